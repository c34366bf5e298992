#pragma once

#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace heddle::test {

using element_types = testing::Types<double, float, half, bfloat16>;

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                   std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
T from_bits(std::uint64_t bits) {
    return std::bit_cast<T>(static_cast<bits_of<T>>(bits));
}

template <class T>
bool same_bits(T a, T b) {
    return std::bit_cast<bits_of<T>>(a) == std::bit_cast<bits_of<T>>(b);
}

/// All bit patterns of a 16-bit type, random ones of a wider: NaN, infinities, denormals, every exponent.
template <class T>
std::vector<T> bit_patterns() {
    std::vector<T> elements(65536);
    std::mt19937_64 generator(seed());
    std::uint64_t next = 0;
    for (T& element : elements) element = from_bits<T>(sizeof(T) == 2 ? next++ : generator());
    return elements;
}

/// NaN, the infinities, and the borders of the normal and denormal numbers, of both signs.
template <class T>
std::vector<T> special_values() {
    constexpr int mantissa = std::is_same_v<T, double>  ? 52
                             : std::is_same_v<T, float> ? 23
                             : std::is_same_v<T, half>  ? 10
                                                        : 7;
    constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
    constexpr std::uint64_t smallest_normal = std::uint64_t{1} << mantissa;
    constexpr std::uint64_t infinity = (sign - 1) >> mantissa << mantissa;
    std::vector<T> values;
    for (const std::uint64_t magnitude :
         {std::uint64_t{0}, std::uint64_t{1}, smallest_normal - 1, smallest_normal, infinity / 2,
          infinity - 1, infinity, infinity + smallest_normal / 2}) {
        values.push_back(from_bits<T>(magnitude));
        values.push_back(from_bits<T>(magnitude | sign));
    }
    return values;
}

/// The exact sum, rounded once: an intermediate of 2p + 2 bits or more does not disturb the rounding of a sum
/// to p bits (Figueroa, "When is double rounding innocuous?", 1995).
template <class T>
T rounded_sum(T x, T y) {
    if constexpr (sizeof(T) == 2)
        return static_cast<T>(static_cast<float>(x) + static_cast<float>(y));
    else
        return x + y;
}

/// Passes where the elements agree in every bit; any NaN agrees with any other.
template <class T>
testing::AssertionResult are_same(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) return testing::AssertionFailure() << "sizes disagree";
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double a = to_double(actual[i]), e = to_double(expected[i]);
        if (!same_bits(actual[i], expected[i]) && !(std::isnan(a) && std::isnan(e)))
            return testing::AssertionFailure() << "element " << i << " is " << a << ", expected " << e;
    }
    return testing::AssertionSuccess();
}

/// What the functions that a sigmoid is made of may be off by.
struct sigmoid_accuracy {
    double exp_ulp = 1.5;          ///< of the exponential: base + slope * |argument|
    double exp_ulp_slope = 0;      ///< per unit of the argument
    double division_rounding = 1;  ///< of the division, in units of roundoff u
};

/// The CUDA Math API states errors against the correctly rounded result: 1 ulp for exp and expf, so 1.5
/// against the exact one. glibc's are within 1 ulp of that. A quotient in float comes from a reciprocal
/// within 1 ulp = 2u and the exact remainder: the first quotient and the remainder's share are each off by 2u
/// + u, so the last rounding adds u to 9u^2. In double it is correctly rounded.
inline constexpr sigmoid_accuracy accurate_functions{.division_rounding = 1 + 9 * 0x1p-24};

/// __expf within 2 + floor(|1.173 x|) ulp and __fdividef within 2 ulp (CUDA Programming Guide, "Mathematical
/// Functions"), of the correctly rounded results.
inline constexpr sigmoid_accuracy fast_functions{2.5, 1.173, 5};

/// The ulps of exp(-|x|), against the exact one.
inline double sigmoid_exp_ulp(double x, const sigmoid_accuracy& accuracy) {
    constexpr double exp_is_zero = 104;  // in float, the only one with a slope; keeps its term finite
    return accuracy.exp_ulp + std::floor(accuracy.exp_ulp_slope * std::min(std::abs(x), exp_is_zero));
}

/// The largest relative error of e / (1 + e) or 1 / (1 + e), e = exp(-|x|), computed in `Compute` and rounded
/// to T. An error of one ulp is at most two units of roundoff u. The error of e passes to the quotient once
/// at most, whichever of its places it stands in; the sum adds one u, the division its own.
template <class T>
double sigmoid_relative_error(double x, const sigmoid_accuracy& accuracy) {
    using compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
    constexpr double u = unit_roundoff<compute>();
    const double computed =
        (1 + 2 * sigmoid_exp_ulp(x, accuracy) * u) / (1 - u) * (1 + accuracy.division_rounding * u) - 1;
    return sizeof(T) == 2 ? (1 + computed) * (1 + unit_roundoff<T>()) - 1 : computed;
}

/// What comes on top among the denormals, where an ulp is the smallest number. In double and float a result
/// is denormal only where e is: then 1 + e is 1, the quotient is e, and all that is off is e, by its ulps.
/// The fast division adds its own, and a 16-bit type half of its smallest number.
template <class T>
long double sigmoid_absolute_error(double x, const sigmoid_accuracy& accuracy) {
    const long double ulp = sigmoid_exp_ulp(x, accuracy);
    if constexpr (sizeof(T) == 2)
        return (ulp + accuracy.division_rounding / 2) * smallest<float>() + smallest<T>() / 2;
    else
        return ulp * smallest<T>();
}

/// The sigmoid in extended precision, whose own error is far below every bound.
template <class T>
long double exact_sigmoid(T x) {
    const long double value = to_double(x);
    const long double e = std::exp(-std::abs(value));
    return (value < 0 ? e : 1.0L) / (1.0L + e);
}

/// What a computed sigmoid may be off by.
template <class T>
long double sigmoid_bound(double x, long double exact, const sigmoid_accuracy& accuracy) {
    return sigmoid_relative_error<T>(x, accuracy) * exact + sigmoid_absolute_error<T>(x, accuracy);
}

/// Passes where every y is within the theory's bound of sigmoid(x), and NaN where x is.
template <class T>
testing::AssertionResult are_sigmoids(const std::vector<T>& y, const std::vector<T>& x,
                                      const sigmoid_accuracy& accuracy) {
    if (x.size() != y.size()) return testing::AssertionFailure() << "sizes disagree";
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double input = to_double(x[i]);
        if (std::isnan(input) && std::isnan(to_double(y[i]))) continue;
        const long double expected = exact_sigmoid(x[i]);
        const long double bound = sigmoid_bound<T>(input, expected, accuracy);
        const long double difference = std::abs(to_double(y[i]) - expected);
        if (!(difference <= bound))
            return testing::AssertionFailure() << "sigmoid(" << input << ") is " << to_double(y[i]) << ", "
                                               << difference << " from " << expected << ", bound " << bound;
    }
    return testing::AssertionSuccess();
}

/// Inputs that reach every part of the curve, and all that a type can hold.
template <class T>
std::vector<T> sigmoid_inputs() {
    std::vector<T> inputs = bit_patterns<T>();
    for (const double range : {1.0, 20.0, 100.0, 750.0}) {
        const std::vector<T> more = random_elements<T>(20000, -range, range);
        inputs.insert(inputs.end(), more.begin(), more.end());
    }
    return inputs;
}

}  // namespace heddle::test
