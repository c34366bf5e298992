#pragma once

#include "kernels/device/activation.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/frame/epilogue.hpp"

#include <limits>

namespace heddle::kernels::frame {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

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

/// Whether an epilogue has at most biases and relu, which take few instructions for each element.
template <class Out>
__device__ bool is_short(const epilogue<Out>& e) {
    return e.residual == nullptr &&
           (e.activation == matmul_activation::none || e.activation == matmul_activation::relu);
}

/// The activation of a short epilogue. It keeps NaN.
template <class Out>
__device__ float short_activation(const epilogue<Out>& e, float x) {
    return ptx::max_nan(x, e.activation == matmul_activation::relu ? 0 : -infinity);
}

/// Calls function.operator()<activation>(), so that code for many elements is written once and compiled for each
/// activation.
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

/// A user's function of an element and its place in the user's C. `is_transposed` says that the product was transposed.
template <class Function>
struct element_function {
    Function function;
    bool is_transposed;

    __device__ float operator()(float x, std::int64_t row, std::int64_t col) const {
        return function(x, is_transposed ? col : row, is_transposed ? row : col);
    }
};

/// A function of an element, alpha times its sum, and of the residual at its place. It is the whole epilogue: no bias or
/// residual is added, and C is not read.
template <class Function>
struct residual_function {
    Function function;

    __device__ float operator()(float x, float residual) const { return function(x, residual); }
};

/// Applies the activation to one element.
template <class Out>
__device__ float activated(matmul_activation activation, float x, std::int64_t, std::int64_t) {
    with_activation(activation, [&]<matmul_activation one>() { x = activated<Out, one>(x); });
    return x;
}
template <class Out, class Function>
__device__ float activated(const element_function<Function>& function, float x, std::int64_t row,
                           std::int64_t col) {
    return function(x, row, col);
}

struct element_place {
    std::int64_t row;
    std::int64_t col;
    bool is_inside;  ///< of C
};

/// Applies the activation to a few elements. place(i) gives the place of x[i] in C.
template <class Out, int count, class Place>
__device__ void activate_elements(matmul_activation chosen, float (&x)[count], Place) {
    with_activation(chosen, [&]<matmul_activation activation>() {
#pragma unroll
        for (float& value : x) value = activated<Out, activation>(value);
    });
}
/// The same for a user's function, which is not called for places outside of C.
template <class Out, class Function, int count, class Place>
__device__ void activate_elements(const element_function<Function>& function, float (&x)[count],
                                  Place place) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (const element_place at = place(i); at.is_inside) x[i] = function(x[i], at.row, at.col);
}

/// Applies the epilogue to a few elements, each alpha times its sum plus beta times C.
template <class Out, class Activation, int count, class Place>
__device__ void apply_to_elements(const epilogue<Out, Activation>& e, float (&x)[count], Place place) {
    const auto add = [&](const Out* from, auto offset_of) {
        if (from == nullptr) return;
#pragma unroll
        for (int i = 0; i < count; ++i)
            if (place(i).is_inside) x[i] += static_cast<float>(from[offset_of(place(i))]);
    };
    add(e.row_bias, [&](const element_place& at) { return at.col * e.row_bias_stride; });
    add(e.column_bias, [&](const element_place& at) { return at.row * e.column_bias_stride; });
    activate_elements<Out>(e.activation, x, place);
#pragma unroll
    for (float& value : x) value *= e.scale;
    add(e.residual, [&](const element_place& at) {
        return at.row * e.residual_row_stride + at.col * e.residual_col_stride;
    });
}

/// The same where a function takes the residual.
template <class Out, class Function, int count, class Place>
__device__ void apply_to_elements(const epilogue<Out, residual_function<Function>>& e, float (&x)[count],
                                  Place place) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (const element_place at = place(i); at.is_inside)
            x[i] = e.activation(
                x[i], static_cast<float>(
                          e.residual[at.row * e.residual_row_stride + at.col * e.residual_col_stride]));
}

/// Applies the epilogue to an element, alpha times its sum plus beta times C. Not inlined: it is long and each element
/// needs it.
template <class Out, class Activation>
__device__ __noinline__ float applied(const epilogue<Out, Activation>& e, float x, std::int64_t row,
                                      std::int64_t col) {
    if (e.row_bias != nullptr) x += static_cast<float>(e.row_bias[col * e.row_bias_stride]);
    if (e.column_bias != nullptr) x += static_cast<float>(e.column_bias[row * e.column_bias_stride]);
    x = activated<Out>(e.activation, x, row, col);
    x *= e.scale;
    if (e.residual != nullptr)
        x += static_cast<float>(e.residual[row * e.residual_row_stride + col * e.residual_col_stride]);
    return x;
}

}  // namespace heddle::kernels::frame
