#pragma once

#include "kernels/device/warpgroup_tile.cuh"
#include <heddle/types.hpp>

#include <type_traits>

/// The sums of a wgmma in the registers of a warpgroup's threads.
namespace heddle::kernels::frame {

/// The first and the second row in which a thread has sums.
__device__ inline int row_of_thread(int half) {
    const int thread = threadIdx.x % warpgroup_threads;
    return thread / 32 * 16 + thread % 32 / 4 + 8 * half;
}

/// The first of the two neighbouring columns, of each eight, in which a thread has sums.
__device__ inline int col_of_thread() {
    return threadIdx.x % 4 * 2;
}

/// The two values as a pair of Out.
template <class Out>
__device__ auto pair_of(float low, float high) {
    if constexpr (std::is_same_v<Out, half>)
        return __floats2half2_rn(low, high);
    else if constexpr (std::is_same_v<Out, bfloat16>)
        return __floats2bfloat162_rn(low, high);
    else
        return make_float2(low, high);
}

inline constexpr int chunk_cols = 32;
inline constexpr int chunk_sums = chunk_cols / 2;  ///< that a thread has of a chunk

/// Copies the sums of the columns from `first` on, where first - offset is a multiple of `step`. Registers have no
/// addresses, so `first`, which may be known at run time only, is compared with all its possible values.
template <int n, int step = chunk_cols>
__device__ void pick(const float (&sums)[n / 2], int first, float (&values)[chunk_sums], int offset = 0) {
#pragma unroll
    for (int at = offset; at < n; at += step)
        if (at == first)
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) values[i] = sums[at / 2 + i];
}

}  // namespace heddle::kernels::frame
