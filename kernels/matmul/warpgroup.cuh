#pragma once

#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/tensor_product.hpp"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/orders.cuh"
#include "kernels/matmul/tensor_map.hpp"
#include "kernels/matmul/warpgroup_sums.cuh"

#include <cstdint>
#include <limits>

/// What the rungs share that multiply with wgmma.
namespace heddle::kernels::matmul {

using frame::tensor_product;

template <class Out, class Activation>
__device__ result<Out, Activation> result_of(const tensor_product<Out, Activation>& p, int batch = 0) {
    return {p.c_data + batch * p.c_batch_stride,
            p.c_row_stride,
            p.c_col_stride,
            p.m,
            p.n,
            p.alpha,
            p.beta,
            p.epilogue};
}

/// Stores a warpgroup's sums, of rows and columns from (row, col) on, from its registers: four lanes have eight
/// neighbours of a row, eight lanes have neighbours of a column.
template <int n, class Out>
__device__ void store_from_registers(const tensor_product<Out>& p, int row, int col,
                                     const float (&sums)[n / 2]) {
    store<n>(result_of(p), row + row_of_thread(0), col + col_of_thread(), sums);
}

/// The product without its tensor maps, which depend on the kernel's tiles.
template <class In, class Out, class Activation>
tensor_product<Out, Activation> make_product(const product<In, Out, Activation>& p) {
    return {.c_data = p.c.data,
            .c_row_stride = p.c.row_stride,
            .c_col_stride = p.c.col_stride,
            .c_batch_stride = p.batch.c,
            .a_batch_step = p.batch.a == 0 ? 0 : 1,
            .b_batch_step = p.batch.b == 0 ? 0 : 1,
            .m = static_cast<int>(p.c.rows),
            .n = static_cast<int>(p.c.cols),
            .k = static_cast<int>(p.a.cols),
            .a_k_major = has_tensor_rows(p.a),
            .b_k_major = !has_tensor_rows(p.b),
            .alpha = p.alpha,
            .beta = p.beta,
            .epilogue = p.epilogue};
}

/// The maps of tiles A and B. `b_parts` blocks load a part of each tile of B; boxes of C have `c_box_cols` columns.
template <class A, class B, class In, class Out, class Activation>
void add_tensor_maps(tensor_product<Out, Activation>& to, const product<In, Out, Activation>& p,
                     int b_parts = 1, int c_box_cols = swizzle_bytes / static_cast<int>(sizeof(Out))) {
    const batch_strides& s = p.batch;
    to.a = make_tensor_map(to.a_k_major ? p.a : transposed(p.a), A::box_rows, A::row, s.count, s.a);
    to.b = make_tensor_map(to.b_k_major ? transposed(p.b) : p.b,
                           to.b_k_major ? B::box_rows / b_parts : B::box_rows, B::row, s.count, s.b);
    const bool steps_whole = s.c * std::int64_t{sizeof(Out)} % tensor_alignment == 0;
    if (!has_tensor_rows(p.c) || !steps_whole) return;
    to.c = make_tensor_map(p.c, warpgroup_m, c_box_cols, s.count, s.c);
    // Stores are of 16 bytes, also where the matrix ends within them.
    const bool ends_whole = p.c.cols * std::int64_t{sizeof(Out)} % tensor_alignment == 0;
    to.c_map_cols = ends_whole ? std::numeric_limits<int>::max() : static_cast<int>(p.c.cols);
}

}  // namespace heddle::kernels::matmul
