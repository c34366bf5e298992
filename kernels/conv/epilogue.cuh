#pragma once

#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/activation.cuh"
#include "kernels/device/quick_division.cuh"

#include <cstdint>

namespace heddle::kernels::conv {

template <class Out>
__device__ float activated(matmul_activation activation, float x) {
    switch (activation) {
        case matmul_activation::none:
            return x;
        case matmul_activation::relu:
            return x < 0 ? 0 : x;
        case matmul_activation::gelu:
            return gelu_of<Out>(x);
        case matmul_activation::gelu_tanh:
            return gelu_tanh_of<Out>(x);
        case matmul_activation::silu:
            return silu_of<Out>(x);
        case matmul_activation::sigmoid:
            return logistic<Out>(x);
        case matmul_activation::tanh:
            return tanh_of<Out>(x);
    }
    return x;
}

/// A user's function of an output element and its place (heddle/conv.cuh).
template <class Function>
struct element_function {
    Function function;
    wide_division by_height, by_width;  ///< of the output

    __device__ float operator()(float x, const pixel_place& at, std::int64_t channel) const {
        return function(x, at.image, at.y, at.x, channel);
    }
    /// The output has fewer than 2^32 pixels.
    __device__ pixel_place place_of_pixel(unsigned i) const {
        const unsigned row = by_width.quotient(i), image = by_height.quotient(row);
        return {image, row - image * by_height.divisor, i - row * by_width.divisor};
    }
};

template <class Out>
__device__ float activated(matmul_activation activation, float x, const pixel_place&, std::int64_t) {
    return activated<Out>(activation, x);
}
template <class Out, class Function>
__device__ float activated(const element_function<Function>& function, float x, const pixel_place& at,
                           std::int64_t channel) {
    return function(x, at, channel);
}

template <class T>
__device__ T& element(const tensor_view<T>& t, const pixel_place& at, std::int64_t channel) {
    return t.data[at.image * t.image_stride + at.y * t.row_stride + at.x * t.col_stride + channel];
}

/// Applies the epilogue to an element, alpha times its sum plus beta times the output. Not inlined: it is long, and each
/// element needs it.
template <class Out, class Activation>
__device__ __noinline__ float applied(const epilogue<Out, Activation>& e, float x, const pixel_place& at,
                                      std::int64_t channel) {
    if (e.scale != nullptr) x *= static_cast<float>(e.scale[channel * e.scale_stride]);
    if (e.bias != nullptr) x += static_cast<float>(e.bias[channel * e.bias_stride]);
    const float residual =
        e.residual.data != nullptr ? static_cast<float>(element(e.residual, at, channel)) : 0;
    if (e.residual_before_activation) return activated<Out>(e.activation, x + residual, at, channel);
    return activated<Out>(e.activation, x, at, channel) + residual;
}

/// Stores an element. The output is not read if beta is 0.
template <class In, class Out, class Activation>
__device__ void store(const arguments<In, Out, Activation>& a, const pixel_place& at, std::int64_t channel,
                      float sum) {
    Out& out = element(a.output, at, channel);
    float result = a.beta == 0.0f ? a.alpha * sum : a.alpha * sum + a.beta * static_cast<float>(out);
    if (!a.epilogue.is_identity) result = applied(a.epilogue, result, at, channel);
    out = static_cast<Out>(result);
}

}  // namespace heddle::kernels::conv
