#pragma once

#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/epilogue.cuh"
#include "kernels/frame/sums.cuh"
#include "kernels/matmul/launch.hpp"
#include <heddle/types.hpp>

#include <cstdint>
#include <type_traits>

/// What a warpgroup's wgmma leaves in its registers, and C, which it becomes.
namespace heddle::kernels::matmul {

using frame::activate_elements, frame::activated, frame::chunk_cols, frame::chunk_sums, frame::col_of_thread,
    frame::element_place, frame::pair_of, frame::pick, frame::row_of_thread, frame::with_activation;

/// C of a product that is not empty, and what becomes of the sums.
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
    std::int64_t batch_stride = 0;
};

inline result<float> make_result(const arguments& arguments) {
    const matrix_view<float>& c = arguments.c;
    return {c.data,
            c.row_stride,
            c.col_stride,
            static_cast<int>(c.rows),
            static_cast<int>(c.cols),
            arguments.alpha,
            arguments.beta,
            arguments.epilogue,
            arguments.batch.c};
}

/// Asks the second-level cache for what a thread's sums are added to. The loads come later, each behind the stores before it.
template <int n, class Out>
__device__ void prefetch_c(const result<Out>& c, int row, int apart, int col, int batch) {
    const Out* const data = c.data + batch * c.batch_stride;
    for (int r = row; r <= row + apart && r < c.rows; r += apart)
        for (int s = col; s < col + n && s < c.cols; s += 8)
            ptx::prefetch_to_l2(data + r * c.row_stride + s * c.col_stride);
}

/// Stores a thread's sums (wgmma.cuh): pairs of columns from `col` on, in `row` and eight below.
template <int n, class Out>
__device__ void store(const result<Out>& c, int row, int col, const float (&sums)[n / 2], int batch = 0) {
    using pair = decltype(pair_of<Out>(0, 0));
    constexpr int together = 4;  // pairs of C that are read at once
    static_assert(n % (8 * together) == 0);
    Out* const data = c.data + batch * c.batch_stride;
    const bool in_pairs = c.col_stride == 1 && reinterpret_cast<std::uintptr_t>(data) % sizeof(pair) == 0 &&
                          (c.row_stride % 2 == 0 || c.rows == 1);
    if (c.beta != 0) prefetch_c<n>(c, row, 8, col, batch);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (row + 8 * half >= c.rows) continue;
        Out* const line = data + (row + 8 * half) * c.row_stride;
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

/// The same with an epilogue; the second row is `apart` below. One copy of the epilogue's code serves all pairs, one after another:
/// there are no registers for more.
template <int n, class Out>
__device__ void finish(const result<Out>& c, int row, int apart, int col, const float (&sums)[n / 2],
                       int batch = 0) {
    if (c.beta != 0) prefetch_c<n>(c, row, apart, col, batch);
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
        const int r = row + pair % 2 * apart, s = col + pair / 2 * 8;
        const int count = ::min(2, c.cols - s);
        if (r >= c.rows || count <= 0) continue;
        Out* const to = c.data + batch * c.batch_stride + r * c.row_stride + s * c.col_stride;
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

}  // namespace heddle::kernels::matmul
