#pragma once

#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp_reduce.cuh"

namespace heddle::kernels {

/// The most combinations that one value passes through in block_reduce.
inline constexpr int block_reduce_depth = 2 * warp_reduce_depth;

/// Thread 0 gets the combination of the values of all threads, always in the same order. Blocks are one-dimensional and
/// consist of whole warps. Calls share their memory, so a barrier must come between two of them.
template <class Operation, class T>
__device__ T block_reduce(T value, Operation operation) {
    __shared__ T warp_values[warp_size];
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;

    value = warp_reduce(value, operation);
    if (blockDim.x == warp_size) return value;
    if (lane == 0) warp_values[warp] = value;
    ptx::sync_threads();
    if (warp == 0) {
        value = lane < blockDim.x / warp_size ? warp_values[lane] : operation.template identity<T>();
        value = warp_reduce(value, operation);
    }
    return value;
}

}  // namespace heddle::kernels
