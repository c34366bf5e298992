#pragma once

#include "tests/matmul/operands.hpp"
#include "tests/support/numeric.hpp"
#include <heddle/matmul.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

// What elements of C may be off by (docs/accuracy.md), given their values and the sums of magnitudes behind them.
namespace heddle::test {

using error_bound = double (*)(const shape& s, double value, double magnitude);

/// k products added in float in any order are within k u of their sum of magnitudes (Higham, Accuracy and
/// Stability of Numerical Algorithms, 3.1); scaling by alpha and adding beta * C are three roundings more.
/// The next higher order in u is covered by one more.
inline double fma_bound(const shape& s, double /*value*/, double magnitude) {
    return static_cast<double>(s.k + 4) * unit_roundoff<float>() * magnitude + smallest<float>();
}

/// `automatic` takes bf16x6 only where this is smaller than fma_bound().
inline double bf16x6_bound(const shape& s, double /*value*/, double magnitude) {
    const auto k = static_cast<double>(s.k);
    const double additions = 2.1 * (std::min(k, 64.0) + 4) + 2 * std::ceil(k / 64) + 6;
    return additions * unit_roundoff<float>() * magnitude + smallest<float>();
}

/// No element is larger than 1.
inline double fp16x3_bound(const shape& s, double /*value*/, double magnitude) {
    const auto k = static_cast<double>(s.k);
    const double additions = 2.1 * 3 * (std::min(k, 64.0) + 4) + std::ceil(k / 64) + 6;
    return (additions * unit_roundoff<float>() + 0x1p-21) * magnitude + k * 0x1p-38;
}

inline double tf32x3_bound(const shape& s, double /*value*/, double magnitude) {
    const double additions = std::ceil(static_cast<double>(s.k) / 16) + 49;
    return additions * unit_roundoff<float>() * magnitude + smallest<float>();
}

inline double tf32_bound(const shape& s, double /*value*/, double magnitude) {
    const auto k = static_cast<double>(s.k);
    const double rounded = 2 * unit_roundoff<half>() * (1 + unit_roundoff<half>());  // as many digits
    return (rounded + 2 * (k + k / 8 + 20) * unit_roundoff<float>()) * magnitude + smallest<float>();
}

/// The products of two 16-bit numbers are exact in float32. The tensor cores add them to a sum by cutting what float32
/// would round, so each of the k additions is within 2 u of the sum of magnitudes; groups of 16 add once more. Scaling
/// by alpha and adding beta * C are three roundings, all in float32; then one to Out.
template <class Out>
double bound_of_16_bit(const shape& s, double value, double magnitude) {
    const double of_sum = 2.0 * static_cast<double>(s.k + s.k / 16 + 20) * unit_roundoff<float>() * magnitude;
    return of_sum + unit_roundoff<Out>() * (std::abs(value) + of_sum) + smallest<Out>();
}

template <class Out, class In = Out>
error_bound bound_of(matmul_algorithm algorithm) {
    using enum matmul_algorithm;
    if (!std::is_same_v<In, float>) return bound_of_16_bit<Out>;
    if (algorithm == bf16x6 || algorithm == padded) return bf16x6_bound;
    if (algorithm == fp16x3) return fp16x3_bound;
    if (algorithm == tf32x3) return tf32x3_bound;
    return algorithm == tf32 ? tf32_bound : fma_bound;
}

template <class Out>
void expect_close(const shape& s, const std::vector<Out>& actual, const reference& expected,
                  error_bound bound) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(is_within(to_double(actual[i]), expected.value[i],
                              bound(s, expected.value[i], expected.magnitude[i])))
            << "element " << i;
}

/// Where the product was computed as by FMAs, or on tensor cores from 16-bit operands.
template <class Out, class In>
void expect_close(operands<Out, In>& p, const matmul_options& options = {}) {
    expect_close(p.s, p.c.download(), p.expected(options.alpha, options.beta),
                 bound_of<Out, In>(options.algorithm));
}

}  // namespace heddle::test
