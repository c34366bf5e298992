#pragma once

#include <cuda_runtime.h>

/// Faults of order that a GPU seldom shows: a build with HEDDLE_DELAYS makes warps come late.
namespace heddle::kernels::ptx {

/// Before and after what orders threads. With HEDDLE_DELAYS one call in four waits up to 4 microseconds, all lanes that
/// come together alike: by warp, block and clock. Without, nothing.
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
