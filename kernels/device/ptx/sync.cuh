#pragma once

#include "kernels/device/ptx/delay.cuh"

#include <cuda_runtime.h>

/// Barriers, fences and pauses of CUDA itself. Kernels call these, so that a build with HEDDLE_DELAYS has its delays at them.
namespace heddle::kernels::ptx {

/// Waits for all threads of the block; what they wrote before is seen by all.
__device__ inline void sync_threads() {
    delay();
    __syncthreads();
    delay();
}

/// The same. Whether `value` is true for all threads.
__device__ inline bool sync_threads_and(bool value) {
    delay();
    const bool all = __syncthreads_and(value);
    delay();
    return all;
}

/// Waits for all lanes of the warp; what they wrote before is seen by all. No delay parts lanes, which meet again after each:
/// whether one is missing, racecheck says.
__device__ inline void sync_warp() {
    __syncwarp();
}

/// What this thread wrote before is seen by the device's other threads before what it writes after.
__device__ inline void fence_device() {
    delay();
    __threadfence();
    delay();
}

/// A pause between two looks at what another block will write.
__device__ inline void nap(unsigned nanoseconds) {
    __nanosleep(nanoseconds);
}

}  // namespace heddle::kernels::ptx
