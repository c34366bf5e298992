#pragma once

#include "kernels/device/warp.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace heddle::kernels {

/// The number of combinations that one value passes through in warp_reduce.
inline constexpr int warp_reduce_depth = 5;

/// Operations overload this for their own structs, beside the definition of these.
template <class T>
__device__ T shuffle_down(T value, int distance) {
    return __shfl_down_sync(0xffffffffu, value, distance);
}

/// Lane 0 gets the combination of the values of all 32 lanes, always in the same order.
template <class Operation, class T>
__device__ T warp_reduce(T value, Operation operation) {
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
        value = operation(value, shuffle_down(value, distance));
    return value;
}

}  // namespace heddle::kernels
