#pragma once

#include "kernels/device/ptx/delay.cuh"

#include <cuda_runtime.h>

/// CUDA's barriers, fences and pauses. Kernels call these, so that a build with HEDDLE_DELAYS can add its delays.
namespace heddle::kernels::ptx {

/// Waits for all threads of the block. All then see what they wrote before.
__device__ inline void sync_threads() {
    delay();
    __syncthreads();
    delay();
}

/// The same; returns whether `value` is true for all threads.
__device__ inline bool sync_threads_and(bool value) {
    delay();
    const bool all = __syncthreads_and(value);
    delay();
    return all;
}

/// Waits for all lanes of the warp. All then see what they wrote before. Delays never separate the lanes of a warp, so they
/// do not show a missing call; racecheck does.
__device__ inline void sync_warp() {
    __syncwarp();
}

/// Other threads of the device see this thread's earlier writes before its later ones.
__device__ inline void fence_device() {
    delay();
    __threadfence();
    delay();
}

/// A pause between two polls of memory that another block will write.
__device__ inline void nap(unsigned nanoseconds) {
    __nanosleep(nanoseconds);
}

}  // namespace heddle::kernels::ptx
