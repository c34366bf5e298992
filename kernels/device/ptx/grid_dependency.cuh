#pragma once

#include "kernels/device/ptx/delay.cuh"

#include <cuda_runtime_api.h>

/// Overlap of consecutive kernels of a stream (programmatic dependent launch, compute capability 9.0). On other devices no
/// grid begins early, and these functions do nothing.
namespace heddle::kernels::ptx {

/// Waits until the previous grids have ended and their writes are visible. A grid that was not launched early does not wait.
__device__ inline void wait_for_grids_before() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    delay();
}

/// Once all blocks have called this or ended, the next grid may begin and run up to its wait.
__device__ inline void let_next_grid_begin() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace heddle::kernels::ptx
