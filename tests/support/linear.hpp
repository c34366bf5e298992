#pragma once

#include "tests/bounds/products.hpp"
#include "tests/bounds/reduce.hpp"
#include "tests/matmul/operands.hpp"
#include "tests/support/activations.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/linear.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// The activations whose derivatives follow from their results.
inline constexpr std::array activations_of_x = {matmul_activation::none, matmul_activation::relu,
                                                matmul_activation::sigmoid, matmul_activation::tanh};

using bounds::derivative_of_result;

/// What an activation may have made, and for relu zeros among it.
template <class T>
std::vector<T> random_results(matmul_activation activation, std::int64_t size) {
    auto x = random_elements<T>(size, activation == matmul_activation::sigmoid ? 0 : -1);
    if (activation == matmul_activation::relu)
        for (T& e : x) e = to_double(e) > 0 ? e : T(0.0f);
    return x;
}

/// What a layer is given, in row-major order: x is batch x in, weights out x in, gradient batch x out.
template <class T>
struct layer_elements {
    std::int64_t batch, in, out;
    std::vector<T> x, weights, bias, gradient;

    layer_elements(std::int64_t samples, std::int64_t inputs, std::int64_t outputs,
                   matmul_activation activation_of_x = matmul_activation::none)
        : batch(samples),
          in(inputs),
          out(outputs),
          x(random_results<T>(activation_of_x, batch * in)),
          weights(random_elements<T>(out * in)),
          bias(random_elements<T>(out)),
          gradient(random_elements<T>(batch * out)) {}
};

/// In double, and what a result may be off by (docs/accuracy.md).
struct expected_elements {
    std::vector<double> value, bound;

    void add(double exact, double of_exact) {
        value.push_back(exact);
        bound.push_back(of_exact);
    }
};

template <class T>
std::vector<T> transposed_elements(const std::vector<T>& m, std::int64_t rows, std::int64_t cols) {
    std::vector<T> result;
    result.reserve(m.size());
    for (std::int64_t col = 0; col < cols; ++col)
        for (std::int64_t row = 0; row < rows; ++row)
            result.push_back(m[static_cast<std::size_t>(row * cols + col)]);
    return result;
}

/// m x k times k x n.
template <class T>
reference product_of(const shape& s, const std::vector<T>& a, const std::vector<T>& b) {
    return {s, a, b, std::vector<float>(static_cast<std::size_t>(s.m * s.n)), 1, 0};
}

/// `of_sums` bounds the error of the sums in float, `of_activation` a rounding of an activation.
template <class T>
expected_elements expected_linear(const layer_elements<T>& e, bool has_bias, matmul_activation activation,
                                  error_bound of_sums, double of_activation) {
    constexpr double u = unit_roundoff<float>();
    const shape s{e.batch, e.out, e.in};
    const reference product = product_of(s, e.x, transposed_elements(e.weights, e.out, e.in));
    expected_elements result;
    for (std::size_t i = 0; i < product.value.size(); ++i) {
        const double bias = has_bias ? to_double(e.bias[i % static_cast<std::size_t>(e.out)]) : 0;
        const double of_product = of_sums(s, product.value[i], product.magnitude[i]);
        const double sum = product.value[i] + bias;
        const double of_sum = of_product + u * (std::abs(sum) + of_product);
        const auto y = bounds::activated(activation, bounds::approximate(sum, of_sum), of_activation);
        result.add(y.value, bounds::stored_as<T>(y));
    }
    return result;
}

/// The sums are rounded to T before the derivative too, where it has a kernel of its own.
template <class T>
expected_elements expected_dx(const layer_elements<T>& e, matmul_activation activation_of_x,
                              error_bound of_sums, bool rounds_sums) {
    constexpr double u = unit_roundoff<float>();
    const shape s{e.batch, e.in, e.out};
    const reference product = product_of(s, e.gradient, e.weights);
    expected_elements result;
    for (std::size_t i = 0; i < product.value.size(); ++i) {
        const double sum = product.value[i];
        double of_sum = of_sums(s, sum, product.magnitude[i]);
        if (rounds_sums) of_sum += unit_roundoff<T>() * (std::abs(sum) + of_sum) + smallest<T>();
        // One rounding of the derivative, one of its product with the sum, and one more for the terms of u^2.
        const double slope = derivative_of_result(activation_of_x, to_double(e.x[i]));
        const double of_value = slope * (of_sum + 3 * u * (std::abs(sum) + of_sum)) + smallest<float>();
        const double value = slope * sum;
        result.add(value, of_value + unit_roundoff<T>() * (std::abs(value) + of_value) + smallest<T>());
    }
    return result;
}

template <class T>
expected_elements expected_dweights(const layer_elements<T>& e, error_bound of_sums) {
    const shape s{e.out, e.in, e.batch};
    const reference product = product_of(s, transposed_elements(e.gradient, e.batch, e.out), e.x);
    expected_elements result;
    for (std::size_t i = 0; i < product.value.size(); ++i)
        result.add(product.value[i], of_sums(s, product.value[i], product.magnitude[i]));
    return result;
}

/// No element goes through more additions than there are elements.
template <class T>
expected_elements expected_dbias(const layer_elements<T>& e) {
    expected_elements result;
    const double share = bounds::of_additions(static_cast<double>(e.batch), unit_roundoff<float>());
    for (std::int64_t col = 0; col < e.out; ++col) {
        double sum = 0, magnitude = 0;
        for (std::int64_t row = 0; row < e.batch; ++row) {
            const double element = to_double(e.gradient[static_cast<std::size_t>(row * e.out + col)]);
            sum += element;
            magnitude += std::abs(element);
        }
        result.add(sum, share * magnitude);
    }
    return result;
}

}  // namespace heddle::test
