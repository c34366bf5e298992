#pragma once

#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/tensor_map.hpp"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/epilogue.cuh"
#include "kernels/frame/sums.cuh"
#include "kernels/frame/tensor_product.hpp"
#include "kernels/frame/tile_scheduler.hpp"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/orders.cuh"
#include <heddle/types.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

/// Common parts of the rungs that multiply with wgmma: schedules and maps for the launch, and stores of sums in registers.
namespace heddle::kernels::matmul {

using frame::activate_elements, frame::activated, frame::chunk_cols, frame::chunk_sums, frame::col_of_thread,
    frame::element_place, frame::pair_of, frame::pick, frame::row_of_thread, frame::tensor_product,
    frame::with_activation;

inline frame::tile_schedule schedule_of(const plan& plan) {
    constexpr int group = 8;  // rows of tiles; 16 x 8 concurrent tiles of 128 x 256 are 2048 x 2048
    const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
    return {narrow(plan.batches), narrow(plan.down),  narrow(plan.across), group,         narrow(plan.steps),
            plan.workers,         narrow(plan.whole), plan.streams,        plan.low_last, plan.narrow_last};
}

/// The memory for shared sums, if tiles are shared.
inline frame::shared_sums shared_sums_in(const plan& plan, const product_workspace& workspace) {
    if (plan.sums_bytes == 0) return {};
    return {reinterpret_cast<float*>(workspace.scratch), workspace.tickets, plan.adds_apart};
}

/// The map of a matrix that satisfies has_tensor_rows(), or of a batch. If the stride is 0, one matrix serves all.
template <class T>
CUtensorMap make_tensor_map(const matrix_view<T>& m, int box_rows, int box_cols, std::int64_t batches = 1,
                            std::int64_t batch_stride = 0,
                            CUtensorMapDataType type = tensor_map_type<std::remove_const_t<T>>) {
    return kernels::make_tensor_map(m.data, m.rows, m.cols, m.row_stride, box_rows, box_cols,
                                    batch_stride == 0 ? 1 : batches, batch_stride, type);
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

/// Adds the maps of A and B, for a warpgroup_tile of m and one of n. `b_parts` blocks each load a part of a tile of B.
template <class In, class Out, class Activation>
void add_operand_maps(tensor_product<Out, Activation>& to, const product<In, Out, Activation>& p, int m,
                      int n, int b_parts = 1, CUtensorMapDataType type = tensor_map_type<In>) {
    constexpr int row = swizzle_bytes / static_cast<int>(sizeof(In));
    const batch_strides& s = p.batch;
    to.a = make_tensor_map(to.a_k_major ? p.a : transposed(p.a), to.a_k_major ? m : row, row, s.count, s.a,
                           type);
    to.b = make_tensor_map(to.b_k_major ? transposed(p.b) : p.b, to.b_k_major ? n / b_parts : row, row,
                           s.count, s.b, type);
}

/// Adds the map of C if it can be stored by boxes of `box_cols` columns.
template <class In, class Out, class Activation>
void add_c_map(tensor_product<Out, Activation>& to, const product<In, Out, Activation>& p, int box_cols) {
    const batch_strides& s = p.batch;
    const bool steps_whole = s.c * std::int64_t{sizeof(Out)} % tensor_alignment == 0;
    if (!has_tensor_rows(p.c) || !steps_whole) return;
    to.c = make_tensor_map(p.c, warpgroup_m, box_cols, s.count, s.c);
    // Stores have 16 bytes, and may reach past the end of the matrix.
    const bool ends_whole = p.c.cols * std::int64_t{sizeof(Out)} % tensor_alignment == 0;
    to.c_map_cols = ends_whole ? std::numeric_limits<int>::max() : static_cast<int>(p.c.cols);
}

/// C of a product that is not empty, and the operations on its sums.
template <class Out, class Activation = matmul_activation>
struct result {
    Out* data = nullptr;
    std::int64_t row_stride = 0;
    std::int64_t col_stride = 0;
    int rows = 0;
    int cols = 0;
    float alpha = 0;
    float beta = 0;
    epilogue<Out, Activation> epilogue{};
};

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

/// Prefetches into L2 the old C of a thread's sums. The loads come later, each behind the stores before it.
template <int n, class Out>
__device__ void prefetch_c(const result<Out>& c, int row, int col) {
    for (int r = row; r <= row + 8 && r < c.rows; r += 8)
        for (int s = col; s < col + n && s < c.cols; s += 8)
            ptx::prefetch_to_l2(c.data + r * c.row_stride + s * c.col_stride);
}

/// Stores a thread's sums (wgmma.cuh): pairs of columns from `col` on, in `row` and eight below.
template <int n, class Out>
__device__ void store(const result<Out>& c, int row, int col, const float (&sums)[n / 2]) {
    using pair = decltype(pair_of<Out>(0, 0));
    constexpr int together = 4;  // pairs of C that are read at once
    static_assert(n % (8 * together) == 0);
    const bool in_pairs = c.col_stride == 1 && reinterpret_cast<std::uintptr_t>(c.data) % sizeof(pair) == 0 &&
                          (c.row_stride % 2 == 0 || c.rows == 1);
    if (c.beta != 0) prefetch_c<n>(c, row, col);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (row + 8 * half >= c.rows) continue;
        Out* const line = c.data + (row + 8 * half) * c.row_stride;
#pragma unroll
        for (int begin = 0; begin < n / 8; begin += together) {
            float added[together][2]{};
            if (c.beta != 0)
#pragma unroll
                for (int j = 0; j < together; ++j)
#pragma unroll
                    for (int i = 0; i < 2; ++i)
                        if (const int at = col + 8 * (begin + j) + i; at < c.cols)
                            added[j][i] = static_cast<float>(line[at * c.col_stride]);
#pragma unroll
            for (int j = 0; j < together; ++j) {
                const int at = col + 8 * (begin + j);
                Out* const first = line + at * c.col_stride;
                const float* const both = &sums[4 * (begin + j) + 2 * half];
                float low = c.alpha * both[0], high = c.alpha * both[1];
                if (c.beta != 0) {
                    low += c.beta * added[j][0];
                    high += c.beta * added[j][1];
                }
                if (in_pairs && at + 1 < c.cols) {
                    *reinterpret_cast<pair*>(first) = pair_of<Out>(low, high);
                } else {
                    if (at < c.cols) *first = static_cast<Out>(low);
                    if (at + 1 < c.cols) first[c.col_stride] = static_cast<Out>(high);
                }
            }
        }
    }
}

/// The same with an epilogue. Its code exists once and handles all pairs one after another: there are no registers for
/// more.
template <int n, class Out>
__device__ void finish(const result<Out>& c, int row, int col, const float (&sums)[n / 2]) {
    if (c.beta != 0) prefetch_c<n>(c, row, col);
#pragma unroll 1
    for (int pair = 0; pair < n / 4; ++pair) {
        float x[2]{};
#pragma unroll
        for (int at = 0; at < n / 4; ++at)
            if (at == pair) {
                x[0] = sums[2 * at];
                x[1] = sums[2 * at + 1];
            }
        x[0] *= c.alpha;
        x[1] *= c.alpha;
        const int r = row + pair % 2 * 8, s = col + pair / 2 * 8;
        const int count = ::min(2, c.cols - s);
        if (r >= c.rows || count <= 0) continue;
        Out* const to = c.data + r * c.row_stride + s * c.col_stride;
        if (c.beta != 0)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                if (i < count) x[i] += c.beta * static_cast<float>(to[i * c.col_stride]);
        apply_to_elements(c.epilogue, x, [&](int i) { return element_place{r, s + i, i < count}; });
#pragma unroll
        for (int i = 0; i < 2; ++i)
            if (i < count) to[i * c.col_stride] = static_cast<Out>(x[i]);
    }
}

/// Stores with or without an epilogue, as the product has one or not.
template <int n, class Out>
__device__ void store_or_finish(const result<Out>& c, int row, int col, const float (&sums)[n / 2]) {
    if (c.epilogue.is_identity)
        store<n>(c, row, col, sums);
    else
        finish<n>(c, row, col, sums);
}

/// Stores a warpgroup's sums from its registers to C, from (row, col) on. Four lanes have eight neighbours of a row, and
/// eight lanes have neighbours of a column.
template <int n, class Out>
__device__ void store_from_registers(const tensor_product<Out>& p, int row, int col,
                                     const float (&sums)[n / 2]) {
    store<n>(result_of(p), row + row_of_thread(0), col + col_of_thread(), sums);
}

}  // namespace heddle::kernels::matmul
