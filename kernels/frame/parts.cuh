#pragma once

#include "kernels/frame/sums.cuh"
#include "kernels/frame/tensor_product.hpp"

/// Parts of tiles: workers that share a tile along k leave their sums in memory, and another kernel adds them up
/// (add_parts.cuh). Leaving takes few registers, so tiles of any size and with any epilogue can be shared.
namespace heddle::kernels::frame {

/// The rows in which a thread has sums, among the 64 of its warpgroup.
struct thread_rows {
    int first;
    int apart;  ///< from the first to the second
};

/// Whether columns of C, and not rows, are contiguous. The sums of a part lie in the order of C, so that neighbours are read
/// and stored together.
template <class Out, class Activation>
__host__ __device__ bool lies_by_columns(const tensor_product<Out, Activation>& p) {
    return p.c_row_stride == 1 && p.c_col_stride != 1;
}

/// Leaves a thread's sums of n columns in a part of tile_m x tile_n. `rows` are those of the part.
template <int n, int tile_m, int tile_n>
__device__ void leave_sums(float* part, bool by_columns, const thread_rows& rows,
                           const float (&sums)[n / 2]) {
    const auto place = [&](int i, int row_step, int col_step) {
        return part + (rows.first + i % 4 / 2 * rows.apart) * row_step +
               (i / 4 * 8 + col_of_thread() + i % 2) * col_step;
    };
    if (by_columns) {
#pragma unroll
        for (int i = 0; i < n / 2; ++i) *place(i, 1, tile_m) = sums[i];
    } else {
#pragma unroll
        for (int i = 0; i < n / 2; i += 2)
            *reinterpret_cast<float2*>(place(i, tile_n, 1)) = make_float2(sums[i], sums[i + 1]);
    }
}

}  // namespace heddle::kernels::frame
