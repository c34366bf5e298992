#pragma once

#include "kernels/matmul/launch.hpp"

#include <cstdint>

/// C of a float product whose sums are wgmma's.
namespace heddle::kernels::matmul {

/// C of a product that is not empty, and what becomes of the sums.
struct float_result {
    float* data = nullptr;
    std::int64_t row_stride = 0;
    std::int64_t col_stride = 0;
    int rows = 0;
    int cols = 0;
    float alpha = 0;
    float beta = 0;
};

inline float_result make_result(const arguments& arguments) {
    const matrix_view<float>& c = arguments.c;
    return {c.data,          c.row_stride,  c.col_stride, static_cast<int>(c.rows), static_cast<int>(c.cols),
            arguments.alpha, arguments.beta};
}

/// The sums of a thread as wgmma leaves them (wgmma.cuh): pairs of columns from `col` on, in `row` and `apart` below. What it
/// stores at once lies along a row, or where its rows are neighbours in a C that lies in columns, along a column.
template <int n, int apart = 8>
__device__ void store(const float_result& c, int row, int col, const float (&sums)[n / 2]) {
    const bool down = apart == 1 && c.row_stride == 1;
    const std::int64_t line_stride = down ? c.col_stride : c.row_stride;
    const std::int64_t to_second = down ? c.row_stride : c.col_stride;
    const bool in_pairs = to_second == 1 && reinterpret_cast<std::uintptr_t>(c.data) % 8 == 0 &&
                          (line_stride % 2 == 0 || (down ? c.cols : c.rows) == 1);
    float* const begin = c.data + row * c.row_stride + col * c.col_stride;
    /// Calls function(row, col, place, first, second) for each pair.
    const auto for_each_pair = [&](auto function) {
#pragma unroll
        for (int j = 0; j < n / 8; ++j) {
            const float right = sums[4 * j + 1], below = sums[4 * j + 2];
            const float pairs[2][2] = {{sums[4 * j], down ? below : right},
                                       {down ? right : below, sums[4 * j + 3]}};
            float* const block = begin + 8 * j * c.col_stride;
#pragma unroll
            for (int line = 0; line < 2; ++line)
                function(down ? row : row + apart * line, col + 8 * j + (down ? line : 0),
                         block + line * (down ? 1 : apart) * line_stride, c.alpha * pairs[line][0],
                         c.alpha * pairs[line][1]);
        }
    };
    const bool is_inside = row + apart < c.rows && col + n - 8 + 1 < c.cols;
    if (is_inside && c.beta == 0) {
        for_each_pair([&](int, int, float* at, float first, float second) {
            if (in_pairs) {
                *reinterpret_cast<float2*>(at) = make_float2(first, second);
            } else {
                *at = first;
                at[to_second] = second;
            }
        });
        return;
    }
    for_each_pair([&](int r, int at, float* first, float low, float high) {
        float* const second = first + to_second;
        const bool has_first = r < c.rows && at < c.cols;
        const bool has_second = down ? r + 1 < c.rows && at < c.cols : r < c.rows && at + 1 < c.cols;
        if (c.beta != 0) {
            if (has_first) low += c.beta * *first;
            if (has_second) high += c.beta * *second;
        }
        if (in_pairs && has_second) {
            *reinterpret_cast<float2*>(first) = make_float2(low, high);
        } else {
            if (has_first) *first = low;
            if (has_second) *second = high;
        }
    });
}

}  // namespace heddle::kernels::matmul
