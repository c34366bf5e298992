#pragma once

#include "tests/support/matmul.hpp"
#include "tests/support/numeric.hpp"
#include <heddle/device.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace heddle::test {

/// The products of two 16-bit numbers are exact in float32. The tensor cores add them to a sum by cutting what float32
/// would round, so each of the k additions is within 2 u of the sum of magnitudes; groups of 16 add once more. Scaling
/// by alpha and adding beta * C are three roundings, all in float32; then one to Out.
template <class Out>
double bound(const shape& s, double value, double magnitude) {
    const double of_sum = 2.0 * static_cast<double>(s.k + s.k / 16 + 20) * unit_roundoff<float>() * magnitude;
    return of_sum + unit_roundoff<Out>() * (std::abs(value) + of_sum) + smallest<Out>();
}

template <class Out>
void expect_close(const shape& s, const std::vector<Out>& actual, const reference& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(is_within(to_double(actual[i]), expected.value[i],
                              bound<Out>(s, expected.value[i], expected.magnitude[i])))
            << "element " << i;
}

}  // namespace heddle::test
