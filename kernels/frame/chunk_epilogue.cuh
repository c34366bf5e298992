#pragma once

#include "kernels/frame/epilogue.cuh"
#include "kernels/frame/sums.cuh"
#include "kernels/frame/tensor_product.hpp"

#include <cstdint>

/// The epilogue of a warpgroup's sums, in chunks of 64 rows and 32 columns, between the registers and shared memory.
namespace heddle::kernels::frame {

/// The biases of a tile, fetched while the tensor cores work. Thread t fetches those of columns t and t + 128, and of its
/// two rows.
template <int n>
struct tile_biases {
    static constexpr int per_thread = (n - 1) / warpgroup_threads + 1;
    float of_columns[per_thread];
    float of_rows[2];

    template <class Out, class Activation>
    __device__ void fetch(const tensor_product<Out, Activation>& p, int row, int col) {
        const epilogue<Out, Activation>& e = p.epilogue;
#pragma unroll
        for (int i = 0; i < per_thread; ++i) {
            const int at = col + i * warpgroup_threads + static_cast<int>(threadIdx.x % warpgroup_threads);
            of_columns[i] = e.row_bias != nullptr && at < p.n
                                ? static_cast<float>(e.row_bias[at * e.row_bias_stride])
                                : 0.0f;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int at = row + row_of_thread(half);
            of_rows[half] = e.column_bias != nullptr && at < p.m
                                ? static_cast<float>(e.column_bias[at * e.column_bias_stride])
                                : 0.0f;
        }
    }

    __device__ void share(float* columns) const {
#pragma unroll
        for (int i = 0; i < per_thread; ++i)
            if (const int at = i * warpgroup_threads + static_cast<int>(threadIdx.x % warpgroup_threads);
                n % warpgroup_threads == 0 || at < n)
                columns[at] = of_columns[i];
    }
};

/// Calls function(i, r, c) for a thread's values of the chunk at (row, col): value i is in row r and column c of C.
template <class Out, class Activation, class Function>
__device__ void for_each_place(const tensor_product<Out, Activation>& p, int row, int col,
                               Function function) {
#pragma unroll
    for (int i = 0; i < chunk_sums; ++i) {
        const int r = row + row_of_thread(i % 4 / 2);
        const int c = col + i / 4 * 8 + col_of_thread() + i % 2;
        if (r < p.m && c < p.n) function(i, r, c);
    }
}

/// Adds the residual to a thread's values of a chunk.
template <class Out, class Activation>
__device__ void add_residual(const tensor_product<Out, Activation>& p, int row, int col,
                             float (&values)[chunk_sums]) {
    const epilogue<Out, Activation>& e = p.epilogue;
    for_each_place(p, row, col, [&](int i, int r, int c) {
        values[i] += static_cast<float>(e.residual[r * e.residual_row_stride + c * e.residual_col_stride]);
    });
}

/// Applies the activation and the scale to a thread's values of a chunk.
template <class Out>
__device__ void activate(const tensor_product<Out>& p, int, int, float (&values)[chunk_sums]) {
    const epilogue<Out>& e = p.epilogue;
    with_activation(e.activation, [&]<matmul_activation activation>() {
#pragma unroll
        for (float& value : values) value = e.scale * activated<Out, activation>(value);
    });
}

/// The same with a user's function. It may look something up by row and column, so it is not called outside of C.
template <class Out, class Function>
__device__ void activate(const tensor_product<Out, element_function<Function>>& p, int row, int col,
                         float (&values)[chunk_sums]) {
    for_each_place(p, row, col, [&](int i, int r, int c) {
        values[i] = p.epilogue.scale * p.epilogue.activation(values[i], r, c);
    });
}

/// Multiplies the sums by alpha and adds the biases: `columns` of the chunk's columns, `rows` of the thread's.
template <class Out, class Activation>
__device__ void add_biases(const tensor_product<Out, Activation>& p, const float* columns,
                           const float (&rows)[2], float (&values)[chunk_sums]) {
#pragma unroll
    for (int j = 0; j < chunk_cols / 8; ++j) {
        const float2 bias = *reinterpret_cast<const float2*>(columns + 8 * j + col_of_thread());
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float* const pair = values + 4 * j + 2 * half;
            pair[0] = fmaf(p.alpha, pair[0], bias.x);
            pair[1] = fmaf(p.alpha, pair[1], bias.y);
        }
    }
    if (p.epilogue.column_bias == nullptr) return;
#pragma unroll
    for (int i = 0; i < chunk_sums; ++i) values[i] += rows[i % 4 / 2];
}

template <class Out, class Activation>
__device__ void scale(const tensor_product<Out, Activation>& p, float (&values)[chunk_sums]) {
    if (p.epilogue.scale == 1) return;
#pragma unroll
    for (float& value : values) value *= p.epilogue.scale;
}

/// Applies the epilogue to a thread's values of a chunk. `addend` is C if beta is not 0, else the residual if there is one.
template <class Out, class Activation>
__device__ void apply_epilogue(const tensor_product<Out, Activation>& p, int row, int col,
                               const float* columns, const float (&rows)[2],
                               const float (&addend)[chunk_sums], float (&values)[chunk_sums]) {
    const epilogue<Out, Activation>& e = p.epilogue;
    const auto add = [&](float factor) {
#pragma unroll
        for (int i = 0; i < chunk_sums; ++i) values[i] = fmaf(factor, addend[i], values[i]);
    };
    const bool adds_c = p.beta != 0, adds_residual = e.residual != nullptr;
    add_biases(p, columns, rows, values);
    if (adds_c) add(p.beta);
    activate(p, row, col, values);
    if (adds_residual && adds_c)
        add_residual(p, row, col, values);
    else if (adds_residual)
        add(1);
}

/// The same where a function takes the residual. Its results outside of C are not stored.
template <class Out, class Function>
__device__ void apply_epilogue(const tensor_product<Out, residual_function<Function>>& p, int, int,
                               const float*, const float (&)[2], const float (&residual)[chunk_sums],
                               float (&values)[chunk_sums]) {
#pragma unroll
    for (int i = 0; i < chunk_sums; ++i) values[i] = p.epilogue.activation(p.alpha * values[i], residual[i]);
}

}  // namespace heddle::kernels::frame
