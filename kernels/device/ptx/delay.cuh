#pragma once

#include <cuda_runtime.h>

/// Random delays, in builds with HEDDLE_DELAYS, that expose missing synchronisation: a GPU seldom shows it otherwise.
namespace heddle::kernels::ptx {

/// Stands before and after operations that order threads. With HEDDLE_DELAYS one call in four waits up to 4 microseconds.
/// Warp, block and clock decide, so lanes that call it together wait equally long. Otherwise it does nothing.
__device__ inline void delay() {
#ifdef HEDDLE_DELAYS
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned bits = static_cast<unsigned>(clock()) ^ (thread / 32) * 0x9e3779b9u ^ block * 0x85ebca6bu;
    bits = (bits ^ bits >> 16) * 0x7feb352du;
    bits = (bits ^ bits >> 15) * 0x846ca68bu;
    if (bits >> 30 == 0) __nanosleep(bits >> 18 & 0xfff);
#endif
}

}  // namespace heddle::kernels::ptx
