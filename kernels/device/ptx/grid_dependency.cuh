#pragma once

#include "kernels/device/ptx/delay.cuh"

#include <cuda_runtime_api.h>

/// Kernels of a stream that overlap (programmatic dependent launch, compute capability 9.0). On other devices no grid begins
/// early, and these do nothing.
namespace heddle::kernels::ptx {

/// Waits until the grids before have ended and what they wrote is seen. At once where this one was not launched early.
__device__ inline void wait_for_grids_before() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    delay();
}

/// Once all blocks have called this or ended, the next grid may begin, up to its wait.
__device__ inline void let_next_grid_begin() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace heddle::kernels::ptx
