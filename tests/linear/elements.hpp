#pragma once

#include "tests/support/activations.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {

/// The activations whose derivatives follow from their results.
inline constexpr std::array activations_of_x = {matmul_activation::none, matmul_activation::relu,
                                                matmul_activation::sigmoid, matmul_activation::tanh};

/// The operands of a layer, in row-major order: x is batch x in, weights out x in, gradient batch x out. With an
/// activation, x holds possible results of relu or sigmoid.
template <class T>
struct layer_elements {
    std::int64_t batch, in, out;
    std::vector<T> x, weights, bias, gradient;

    layer_elements(std::int64_t samples, std::int64_t inputs, std::int64_t outputs,
                   matmul_activation activation_of_x = matmul_activation::none)
        : batch(samples),
          in(inputs),
          out(outputs),
          x(random_elements<T>(batch * in, activation_of_x == matmul_activation::sigmoid ? 0 : -1)),
          weights(random_elements<T>(out * in)),
          bias(random_elements<T>(out)),
          gradient(random_elements<T>(batch * out)) {
        if (activation_of_x == matmul_activation::relu)
            for (T& each : x) each = to_double(each) > 0 ? each : T(0.0f);
    }
};

}  // namespace heddle::test
