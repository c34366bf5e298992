#pragma once

#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp_reduce.cuh"

namespace heddle::kernels {

/// Combinations on the way of one value through block_reduce, at most.
inline constexpr int block_reduce_depth = 2 * warp_reduce_depth;

/// Thread 0 gets the combination of the values of all threads, always in the same order. Blocks are whole
/// warps in one dimension. A barrier must come between two calls: they share their memory.
template <class Operation, class T>
__device__ T block_reduce(T value, Operation operation) {
    __shared__ T of_warp[warp_size];
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;

    value = warp_reduce(value, operation);
    if (blockDim.x == warp_size) return value;
    if (lane == 0) of_warp[warp] = value;
    ptx::sync_threads();
    if (warp == 0) {
        value = lane < blockDim.x / warp_size ? of_warp[lane] : operation.template identity<T>();
        value = warp_reduce(value, operation);
    }
    return value;
}

}  // namespace heddle::kernels
