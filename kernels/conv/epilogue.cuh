#pragma once

#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/activation.cuh"

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

template <class T>
__device__ T& element(const tensor_view<T>& t, const pixel_place& at, std::int64_t channel) {
    return t.data[at.image * t.image_stride + at.y * t.row_stride + at.x * t.col_stride + channel];
}

/// Applies the epilogue to one element, whose `x` is alpha times its sum, plus beta times the output. It is a call, as it is
/// long and made for every element.
template <class Out>
__device__ __noinline__ float applied(const epilogue<Out>& e, float x, const pixel_place& at,
                                      std::int64_t channel) {
    if (e.scale != nullptr) x *= static_cast<float>(e.scale[channel * e.scale_stride]);
    if (e.bias != nullptr) x += static_cast<float>(e.bias[channel * e.bias_stride]);
    const float residual =
        e.residual.data != nullptr ? static_cast<float>(element(e.residual, at, channel)) : 0;
    if (e.residual_before_activation) return activated<Out>(e.activation, x + residual);
    return activated<Out>(e.activation, x) + residual;
}

/// The output is not read where beta is 0.
template <class In, class Out>
__device__ void store(const arguments<In, Out>& a, const pixel_place& at, std::int64_t channel, float sum) {
    Out& out = element(a.output, at, channel);
    float result = a.beta == 0.0f ? a.alpha * sum : a.alpha * sum + a.beta * static_cast<float>(out);
    if (!a.epilogue.is_identity) result = applied(a.epilogue, result, at, channel);
    out = static_cast<Out>(result);
}

}  // namespace heddle::kernels::conv
