#pragma once

#include <heddle/matmul.hpp>

namespace heddle::kernels::linear {

/// A sum times the derivative of an activation (relu, sigmoid or tanh) whose result is x. Where relu's x is not positive,
/// the result is 0 whatever the sum. The derivatives of the others, x - x^2 and 1 - x^2, are rounded once.
__device__ inline float times_derivative(matmul_activation activation, float x, float sum) {
    if (activation == matmul_activation::relu) return x > 0 ? sum : x <= 0 ? 0 : x;
    return sum * fmaf(-x, x, activation == matmul_activation::sigmoid ? x : 1);
}

}  // namespace heddle::kernels::linear
