#pragma once

#include <heddle/matmul.hpp>

#include <array>
#include <cmath>

namespace heddle::test {

inline double activated(matmul_activation activation, double x) {
    switch (activation) {
        case matmul_activation::none:
            return x;
        case matmul_activation::relu:
            return x < 0 ? 0 : x;
        case matmul_activation::gelu:
            return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
        case matmul_activation::gelu_tanh:
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
        case matmul_activation::silu:
            return x / (1 + std::exp(-x));
        case matmul_activation::sigmoid:
            return 1 / (1 + std::exp(-x));
        case matmul_activation::tanh:
            return std::tanh(x);
    }
    return x;
}

inline constexpr std::array activations = {matmul_activation::none, matmul_activation::relu,
                                           matmul_activation::gelu, matmul_activation::gelu_tanh,
                                           matmul_activation::silu, matmul_activation::sigmoid,
                                           matmul_activation::tanh};

}  // namespace heddle::test
