#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/frame/chunk_epilogue.cuh"
#include <heddle/matmul.hpp>

#include <cstdint>

/// The epilogue of a convolution in the frame of products: pixels are rows, channels columns.
namespace heddle::kernels::conv {

/// Beside what frame::epilogue has: bias and residual.
template <class Out, class Activation = matmul_activation>
struct channel_activation {
    Activation activation{};
    const Out* scale = nullptr;  ///< of each channel
    std::int64_t scale_stride = 0;
    bool residual_before_activation = true;
};

template <class Out, class Activation = matmul_activation>
using channel_epilogue = frame::epilogue<Out, channel_activation<Out, Activation>>;
template <class Out, class Activation>
using channel_product = frame::tensor_product<Out, channel_activation<Out, Activation>>;

template <class Out, class Activation>
channel_epilogue<Out, Activation> channel_epilogue_of(const epilogue<Out, Activation>& e,
                                                      std::int64_t residual_stride) {
    return {.activation = {e.activation, e.scale, e.scale_stride, e.residual_before_activation},
            .row_bias = e.bias,
            .row_bias_stride = e.bias_stride,
            .residual = e.residual.data,
            .residual_row_stride = residual_stride,
            .residual_col_stride = 1,
            .is_identity = e.is_identity};
}

template <class Out>
__device__ bool is_short(const channel_epilogue<Out>& e) {
    const channel_activation<Out>& a = e.activation;
    return e.residual == nullptr && a.scale == nullptr &&
           (a.activation == matmul_activation::none || a.activation == matmul_activation::relu);
}

template <class Out>
__device__ float short_activation(const channel_epilogue<Out>& e, float x) {
    return ptx::max_nan(x, e.activation.activation == matmul_activation::relu ? 0 : -frame::infinity);
}

/// The activation of a thread's part of a chunk.
template <class Out>
__device__ void activate(const channel_product<Out, matmul_activation>& p, int, int,
                         float (&values)[frame::chunk_sums]) {
    frame::with_activation(p.epilogue.activation.activation, [&]<matmul_activation activation>() {
#pragma unroll
        for (float& value : values) value = frame::activated<Out, activation>(value);
    });
}

/// The same of a user's function: it is not called outside of the output.
template <class Out, class Function>
__device__ void activate(const channel_product<Out, element_function<Function>>& p, int row, int col,
                         float (&values)[frame::chunk_sums]) {
    const element_function<Function>& function = p.epilogue.activation.activation;
    pixel_place places[2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
        places[half] = function.place_of_pixel(row + frame::row_of_thread(half));
    frame::for_each_place(p, row, col,
                          [&](int i, int, int c) { values[i] = function(values[i], places[i % 4 / 2], c); });
}

/// What becomes of a thread's part of a chunk, at (row, col) of the output (frame::apply_epilogue). `biases` are the chunk's;
/// `addend` has what the output was, if beta is not 0, else the residual, where there is one.
template <class Out, class Activation>
__device__ void apply_epilogue(const channel_product<Out, Activation>& p, int row, int col,
                               const float* biases, const float (&)[2],
                               const float (&addend)[frame::chunk_sums], float (&values)[frame::chunk_sums]) {
    const channel_epilogue<Out, Activation>& e = p.epilogue;
    const channel_activation<Out, Activation>& a = e.activation;
    const bool adds_output = p.beta != 0;
#pragma unroll
    for (int i = 0; i < frame::chunk_sums; ++i) {
        values[i] *= p.alpha;
        if (adds_output) values[i] = fmaf(p.beta, addend[i], values[i]);
    }
#pragma unroll
    for (int i = 0; i < frame::chunk_sums; i += 4)
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            const int of_chunk = i / 4 * 8 + frame::col_of_thread() + side;
            const float scale = a.scale != nullptr && col + of_chunk < p.n
                                    ? static_cast<float>(a.scale[(col + of_chunk) * a.scale_stride])
                                    : 1;
#pragma unroll
            for (int half = 0; half < 4; half += 2)
                values[i + half + side] = fmaf(scale, values[i + half + side], biases[of_chunk]);
        }
    const auto add_residual = [&] {
        if (e.residual == nullptr) return;
        if (adds_output) return frame::add_residual(p, row, col, values);
#pragma unroll
        for (int i = 0; i < frame::chunk_sums; ++i) values[i] += addend[i];
    };
    if (a.residual_before_activation) add_residual();
    activate(p, row, col, values);
    if (!a.residual_before_activation) add_residual();
}

}  // namespace heddle::kernels::conv
