#pragma once

#include "kernels/device/warpgroup_tile.cuh"
#include <heddle/types.hpp>

#include <type_traits>

/// The sums that a warpgroup's wgmma leaves in its threads' registers.
namespace heddle::kernels::frame {

/// A thread has sums of two rows.
__device__ inline int row_of_thread(int half) {
    const int thread = threadIdx.x % warpgroup_threads;
    return thread / 32 * 16 + thread % 32 / 4 + 8 * half;
}

/// And of each eight columns two.
__device__ inline int col_of_thread() {
    return threadIdx.x % 4 * 2;
}

/// In two elements of Out, side by side.
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
inline constexpr int chunk_sums = chunk_cols / 2;  ///< of a thread

/// The sums of the columns from `first` on, which is `offset` more than a multiple of `step`. It need not be known before:
/// registers have no addresses, so it is compared with all that it may be.
template <int n, int step = chunk_cols>
__device__ void pick(const float (&sums)[n / 2], int first, float (&values)[chunk_sums], int offset = 0) {
#pragma unroll
    for (int at = offset; at < n; at += step)
        if (at == first)
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) values[i] = sums[at / 2 + i];
}

}  // namespace heddle::kernels::frame
