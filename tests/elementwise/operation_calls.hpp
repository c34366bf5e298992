#pragma once

#include "tests/support/numeric.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/random.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/host.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace heddle::test {

using op = elementwise_operation;

inline constexpr double low = -1.5, high = 2.25, alpha = -1.25;  // exact in every type

/// The operation's function, with vectors or matrices and what follows them: (stream, options) or nothing.
template <class T, class View, class... Target>
void call_on_device(op operation, const View (&in)[3], const View& out, const Target&... target) {
    const auto& [x, y, z] = in;
    switch (operation) {
        case op::add:
            return add<T>(x, y, out, target...);
        case op::subtract:
            return subtract<T>(x, y, out, target...);
        case op::multiply:
            return multiply<T>(x, y, out, target...);
        case op::scale:
            return scale<T>(alpha, x, out, target...);
        case op::axpy:
            return axpy<T>(alpha, x, out, target...);
        case op::fused_multiply_add:
            return fused_multiply_add<T>(x, y, z, out, target...);
        case op::clamp:
            return clamp<T>(x, low, high, out, target...);
        case op::abs:
            return abs<T>(x, out, target...);
        case op::exp:
            return exp<T>(x, out, target...);
        case op::sigmoid:
            return sigmoid<T>(x, out, target...);
        case op::tanh:
            return tanh<T>(x, out, target...);
        case op::relu:
            return relu<T>(x, out, target...);
        case op::gelu:
            return gelu<T>(x, out, target...);
        case op::gelu_tanh:
            return gelu_tanh<T>(x, out, target...);
        case op::silu:
            return silu<T>(x, out, target...);
        case op::sigmoid_derivative:
            return sigmoid_derivative<T>(x, out, target...);
        case op::tanh_derivative:
            return tanh_derivative<T>(x, out, target...);
        case op::relu_derivative:
            return relu_derivative<T>(x, out, target...);
        case op::gelu_derivative:
            return gelu_derivative<T>(x, out, target...);
        case op::gelu_tanh_derivative:
            return gelu_tanh_derivative<T>(x, out, target...);
        case op::silu_derivative:
            return silu_derivative<T>(x, out, target...);
    }
}

template <class T, class View>
void call_on_host(op operation, const View (&in)[3], const View& out) {
    const auto& [x, y, z] = in;
    switch (operation) {
        case op::add:
            return host::add<T>(x, y, out);
        case op::subtract:
            return host::subtract<T>(x, y, out);
        case op::multiply:
            return host::multiply<T>(x, y, out);
        case op::scale:
            return host::scale<T>(alpha, x, out);
        case op::axpy:
            return host::axpy<T>(alpha, x, out);
        case op::fused_multiply_add:
            return host::fused_multiply_add<T>(x, y, z, out);
        case op::clamp:
            return host::clamp<T>(x, low, high, out);
        case op::abs:
            return host::abs<T>(x, out);
        case op::exp:
            return host::exp<T>(x, out);
        case op::sigmoid:
            return host::sigmoid<T>(x, out);
        case op::tanh:
            return host::tanh<T>(x, out);
        case op::relu:
            return host::relu<T>(x, out);
        case op::gelu:
            return host::gelu<T>(x, out);
        case op::gelu_tanh:
            return host::gelu_tanh<T>(x, out);
        case op::silu:
            return host::silu<T>(x, out);
        case op::sigmoid_derivative:
            return host::sigmoid_derivative<T>(x, out);
        case op::tanh_derivative:
            return host::tanh_derivative<T>(x, out);
        case op::relu_derivative:
            return host::relu_derivative<T>(x, out);
        case op::gelu_derivative:
            return host::gelu_derivative<T>(x, out);
        case op::gelu_tanh_derivative:
            return host::gelu_tanh_derivative<T>(x, out);
        case op::silu_derivative:
            return host::silu_derivative<T>(x, out);
    }
}

/// Random elements, and at the front what is special.
template <class T>
std::vector<T> inputs(std::int64_t size) {
    std::vector<T> x = random_elements<T>(size, -12, 12);
    const double infinity = std::numeric_limits<double>::infinity();
    const double most = static_cast<double>(largest<T>());
    const double denormal = smallest<T>();
    const double specials[] = {0.0,       -0.0, infinity, -infinity, std::nan(""), most, -most, denormal,
                               -denormal, 1.0,  -1.0,     5.0,       -5.0,         20.0, -20.0, 50.0,
                               -50.0,     88.5, -88.5,    104.0,     -104.0,       1e-3, -1e-3};
    for (std::size_t i = 0; i < std::min(std::size(specials), x.size()); ++i) {
        if constexpr (std::is_same_v<T, double>)
            x[i] = specials[i];
        else
            x[i] = static_cast<T>(static_cast<float>(specials[i]));
    }
    return x;
}

/// From where an activation's results are the smallest denormals to where it gives x.
template <class T>
std::vector<T> tails(std::int64_t size) {
    std::vector<T> x = random_elements<T>(size, -40, 10);
    for (std::size_t i = 0; i < x.size() / 2; ++i)
        x[i] = static_cast<T>(-40 + 50 * static_cast<float>(i) / static_cast<float>(x.size() / 2));
    return x;
}

/// Two inputs beside the specials of the first that leave sums and products finite where those are.
template <class T>
std::vector<T> partners(std::int64_t size) {
    return random_elements<T>(size, 0.5, 2);
}

template <class T>
void expect_right(op operation, const std::vector<T>& actual, const std::array<std::vector<T>, 3>& in,
                  bool fast) {
    const operation_accuracy accuracy{unit_roundoff<compute_type<T>>(), fast};
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const auto at = [&](std::size_t k) { return static_cast<long double>(to_double(in[k][i])); };
        const auto expected = operation == op::clamp
                                  ? expect(operation, accuracy, at(0), 0, 0, low, high)
                                  : expect(operation, accuracy, at(0), at(1), at(2), alpha, 0);
        ASSERT_TRUE(is_expected(actual[i], expected))
            << to_string(operation) << " at " << to_double(in[0][i]) << ", element " << i;
    }
}

/// What axpy adds to is its second input.
template <class T>
std::vector<T> contents_before(op operation, const std::array<std::vector<T>, 3>& in) {
    return operation == op::axpy ? in[1] : std::vector<T>();
}

}  // namespace heddle::test
