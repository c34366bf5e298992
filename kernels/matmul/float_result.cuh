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

/// The sums of a thread as wgmma leaves them (wgmma.cuh): pairs of columns from `col` on, in `row` and eight below.
template <int n>
__device__ void store(const float_result& c, int row, int col, const float (&sums)[n / 2]) {
    const bool in_pairs = c.col_stride == 1 && reinterpret_cast<std::uintptr_t>(c.data) % 8 == 0 &&
                          (c.row_stride % 2 == 0 || c.rows == 1);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (row + 8 * half >= c.rows) continue;
        float* const line = c.data + (row + 8 * half) * c.row_stride;
#pragma unroll
        for (int j = 0; j < n / 8; ++j) {
            const int at = col + 8 * j;
            float* const first = line + at * c.col_stride;
            float* const second = first + c.col_stride;
            float low = c.alpha * sums[4 * j + 2 * half], high = c.alpha * sums[4 * j + 2 * half + 1];
            if (c.beta != 0) {
                if (at < c.cols) low += c.beta * *first;
                if (at + 1 < c.cols) high += c.beta * *second;
            }
            if (in_pairs && at + 1 < c.cols) {
                *reinterpret_cast<float2*>(first) = make_float2(low, high);
            } else {
                if (at < c.cols) *first = low;
                if (at + 1 < c.cols) *second = high;
            }
        }
    }
}

}  // namespace heddle::kernels::matmul
