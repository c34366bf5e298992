#pragma once

#include <heddle/matmul.hpp>

#include <cmath>
#include <limits>

/// Activations in double, the reference of results (docs/accuracy.md, The other elementwise operations).
namespace heddle::bounds {

inline double logistic(double x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

inline double activated(matmul_activation activation, double x) {
    const auto weighted = [x](double weight) { return weight == 0 ? 0 : x * weight; };
    using enum matmul_activation;
    if (activation == none) return x;
    if (activation == relu) return x < 0 ? 0 : x;
    if (activation == gelu) return weighted(std::erfc(-x * std::sqrt(0.5)) / 2);
    // 1 + tanh(v) would cancel where v is far below 0
    if (activation == gelu_tanh) return weighted(logistic(1.5957691216057308 * (x + 0.044715 * x * x * x)));
    if (activation == silu) return weighted(logistic(x));
    if (activation == sigmoid) return logistic(x);
    if (activation == matmul_activation::tanh) return std::tanh(x);

    return std::numeric_limits<double>::quiet_NaN();
}

/// The derivative of an activation from its result x, where x determines it.
inline double derivative_of_result(matmul_activation activation, double x) {
    using enum matmul_activation;
    if (activation == relu) return x > 0 ? 1 : 0;
    if (activation == sigmoid) return x * (1 - x);
    if (activation == tanh) return 1 - x * x;
    return 1;
}

}  // namespace heddle::bounds
