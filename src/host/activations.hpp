#pragma once

#include <heddle/matmul.hpp>

#include <cmath>

/// Activation functions of one element. C is the type of the computation.
namespace heddle::host::activations {

/// 1 / (1 + exp(-x)), without overflow. Small results keep their relative accuracy.
template <class C>
C logistic(C x) {
    const C e = std::exp(-std::abs(x));
    return (x < 0 ? e : C{1}) / (C{1} + e);
}

/// x * weight; a weight of 0 makes 0, even where x is infinite.
template <class C>
C weighted(C x, C weight) {
    return weight == 0 ? weight : x * weight;
}

template <class C>
C normal_cdf(C x) {
    return static_cast<C>(0.5) * std::erfc(x * static_cast<C>(-0.70710678118654752440));
}

/// gelu_tanh is x * logistic(u(x)).
template <class C>
struct gelu_argument {
    static constexpr C linear = static_cast<C>(1.59576912160573071176);  // 2 sqrt(2 / pi)
    static constexpr C cubic = static_cast<C>(0.044715);

    static C value(C x) { return linear * x * (1 + cubic * x * x); }
    static C slope(C x) { return linear * (1 + 3 * cubic * x * x); }
};

template <class C>
C relu(C x) {
    return x < 0 ? C{0} : x;
}
template <class C>
C gelu(C x) {
    return weighted(x, normal_cdf(x));
}
template <class C>
C gelu_tanh(C x) {
    return weighted(x, logistic(gelu_argument<C>::value(x)));
}
template <class C>
C silu(C x) {
    return weighted(x, logistic(x));
}

inline float activated(matmul_activation activation, float x) {
    switch (activation) {
        case matmul_activation::none:
            return x;
        case matmul_activation::relu:
            return relu(x);
        case matmul_activation::gelu:
            return gelu(x);
        case matmul_activation::gelu_tanh:
            return gelu_tanh(x);
        case matmul_activation::silu:
            return silu(x);
        case matmul_activation::sigmoid:
            return logistic(x);
        case matmul_activation::tanh:
            return std::tanh(x);
    }
    return x;
}

}  // namespace heddle::host::activations
