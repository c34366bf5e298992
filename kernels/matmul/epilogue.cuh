#pragma once

#include "kernels/device/activation.cuh"
#include "kernels/matmul/epilogue.hpp"

namespace heddle::kernels::matmul {

template <class Out, matmul_activation activation>
__device__ float activated(float x) {
    if constexpr (activation == matmul_activation::relu)
        return x < 0 ? 0 : x;
    else if constexpr (activation == matmul_activation::gelu)
        return gelu_of<Out>(x);
    else if constexpr (activation == matmul_activation::gelu_tanh)
        return gelu_tanh_of<Out>(x);
    else if constexpr (activation == matmul_activation::silu)
        return silu_of<Out>(x);
    else if constexpr (activation == matmul_activation::sigmoid)
        return logistic<Out>(x);
    else if constexpr (activation == matmul_activation::tanh)
        return tanh_of<Out>(x);
    else
        return x;
}

/// Calls function.operator()<activation>(): code for many elements is written once for each.
template <class Function>
__device__ void with_activation(matmul_activation activation, Function function) {
    switch (activation) {
        case matmul_activation::none:
            return function.template operator()<matmul_activation::none>();
        case matmul_activation::relu:
            return function.template operator()<matmul_activation::relu>();
        case matmul_activation::gelu:
            return function.template operator()<matmul_activation::gelu>();
        case matmul_activation::gelu_tanh:
            return function.template operator()<matmul_activation::gelu_tanh>();
        case matmul_activation::silu:
            return function.template operator()<matmul_activation::silu>();
        case matmul_activation::sigmoid:
            return function.template operator()<matmul_activation::sigmoid>();
        case matmul_activation::tanh:
            return function.template operator()<matmul_activation::tanh>();
    }
}

/// Of one element: `x` is alpha times its sum, plus beta times C. A call: it is long, and made for every element.
template <class Out>
__device__ __noinline__ float applied(const epilogue<Out>& e, float x, std::int64_t row, std::int64_t col) {
    if (e.row_bias != nullptr) x += static_cast<float>(e.row_bias[col * e.row_bias_stride]);
    if (e.column_bias != nullptr) x += static_cast<float>(e.column_bias[row * e.column_bias_stride]);
    with_activation(e.activation, [&]<matmul_activation activation>() { x = activated<Out, activation>(x); });
    x *= e.scale;
    if (e.residual != nullptr)
        x += static_cast<float>(e.residual[row * e.residual_row_stride + col * e.residual_col_stride]);
    return x;
}

}  // namespace heddle::kernels::matmul
