#pragma once

#include "kernels/device/warp_reduce.cuh"

namespace heddle::kernels {

/// The number of combinations that one value passes through in a warp's scan.
inline constexpr int warp_scan_depth = 5;

/// Each lane gets the combination of the values of lanes 0 to its own, always in the same order
/// (Hillis and Steele, "Data parallel algorithms", 1986).
template <class Operation, class T>
__device__ T warp_inclusive_scan(T value, Operation operation) {
    const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
    for (unsigned distance = 1; distance < warp_size; distance *= 2) {
        const T before = __shfl_up_sync(0xffffffffu, value, distance);
        if (lane >= distance) value = operation(before, value);
    }
    return value;
}

/// All lanes get the combination of the values of all 32 lanes. Where the operation is commutative, each lane gets the same
/// bits.
template <class Operation, class T>
__device__ T warp_all_reduce(T value, Operation operation) {
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
        value = operation(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

}  // namespace heddle::kernels
