#pragma once

#include "kernels/device/warp_scan.cuh"
#include "kernels/scan/plus.cuh"

namespace heddle::kernels::scan {

/// Scans the next of a warp's rows. Returns the sum of all elements before this lane's: of the rows before, which is `sum`,
/// and of the lanes before it in this row. Adds the row to `sum`. The shuffles of several rows overlap, because only
/// the last additions wait for the row before.
template <class T>
__device__ T scan_row(T own, T& sum) {
    const unsigned lane = threadIdx.x % warp_size;
    const T inclusive = warp_inclusive_scan(own, plus{});
    const T exclusive = __shfl_up_sync(0xffffffffu, inclusive, 1);
    const T before = lane > 0 ? plus{}(sum, exclusive) : sum;
    sum = plus{}(sum, __shfl_sync(0xffffffffu, inclusive, warp_size - 1));
    return before;
}

template <class T>
struct block_sums {
    T before;  ///< the sum of the warps before this one
    T all;     ///< the sum of all warps
};

/// Adds up the warps' sums in shared memory, one after another.
template <class T, int warps>
__device__ block_sums<T> sum_warps(const T (&of_warp)[warps]) {
    const unsigned warp = threadIdx.x / warp_size;
    block_sums<T> sums{};
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) {
        if (w == warp) sums.before = sums.all;
        sums.all = plus{}(sums.all, of_warp[w]);
    }
    return sums;
}

/// The most additions from one element to its block's sum. A lane has `width` elements side by side in each of
/// its rows.
constexpr int block_depth(int width, int rows, int warps) {
    return (width - 1) + warp_scan_depth + rows + warps;
}

}  // namespace heddle::kernels::scan
