#pragma once

#include "tests/bounds/activations.hpp"
#include <heddle/matmul.hpp>

#include <array>

namespace heddle::test {

using bounds::activated;

inline constexpr std::array activations = {matmul_activation::none, matmul_activation::relu,
                                           matmul_activation::gelu, matmul_activation::gelu_tanh,
                                           matmul_activation::silu, matmul_activation::sigmoid,
                                           matmul_activation::tanh};

}  // namespace heddle::test
