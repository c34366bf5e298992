#pragma once

#include "tests/bounds/numbers.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::bounds {

/// The result of an elementwise operation in extended precision, and the error that a result computed in
/// compute_type<T> may have before it is rounded to T. Derived in docs/accuracy.md.
///
/// A product multiplies the error of a denormal weight: `factor` times a few of the smallest numbers.
struct expectation {
    long double value;
    long double error;
    long double factor = 1;
};

/// `u` is the unit roundoff of the arithmetic. `fast`: exponentials and divisions are the hardware's, as for the
/// 16-bit types on the GPU.
struct operation_accuracy {
    double u;
    bool fast;

    /// Relative errors of the functions that the others are made of, at argument x. CUDA states ulp (2 u) against the
    /// correctly rounded result, which is within half an ulp of the exact one. heddle's own exponential in float is
    /// within 0.9 ulp. The fast form's argument has 16 added to it; its roundings are 2 u |x| + 12 u.
    long double exponential(long double x) const {
        return (fast ? 2.4L * std::min(std::abs(x), 104.0L) + 16 : 3) * u;
    }
    long double quotient() const { return fast ? 3 * u : u * (1 + 9 * u); }
    long double logistic(long double x) const {
        return 1.01L * (exponential(x) + u + (fast ? 2 * u : quotient()));
    }
    long double logistic_slope(long double x) const { return 1.01L * (exponential(x) + 3 * u + quotient()); }
    /// The error of the logistic function and of its derivative where they share a division.
    long double shared_logistic(long double x) const { return logistic(x) + 1.01L * u; }
    long double shared_slope(long double x) const { return logistic_slope(x) + 1.01L * (u + quotient()); }
    long double tanh() const { return fast ? 0x1p-16L : 5 * u; }
    /// erfc is within 5 ulp. Its argument is off by 2 u, times erfc's condition number. Float on the GPU is within
    /// that. The fast form is a polynomial within 3.3e-5, 13 u for its rounding, and an exponential.
    long double normal_cdf(long double x) const {
        if (fast) return 1.01L * (3.3e-5L + normal_exponential(x) + 13 * u);
        const long double z = -x * std::sqrt(0.5L);
        const long double cdf = std::erfc(z);
        const long double condition =
            cdf > 0 ? std::abs(z) * 2 / std::sqrt(M_PIl) * std::exp(-z * z) / cdf : 2 * z * z + 2;
        return 1.01L * (11 * u + 2 * u * condition);
    }
    long double normal_density(long double x) const {
        return 1.01L * (normal_exponential(x) + (fast ? 4 : 2) * u);
    }
    /// exp(-x^2 / 2). The argument is rounded once; in the fast form three times, and once with 40 added.
    long double normal_exponential(long double x) const {
        if (fast) return (1.5L * std::min(x * x, 225.0L) + 32) * u;
        return 0.5L * x * x * u + exponential(0.5L * x * x);
    }
};

inline long double logistic(long double x) {
    const long double e = std::exp(-std::abs(x));
    return (x < 0 ? e : 1) / (1 + e);
}
inline long double logistic_slope(long double x) {
    const long double e = std::exp(-std::abs(x));
    return e / ((1 + e) * (1 + e));
}
/// x * weight; 0 where the weight is 0, even for an infinite x.
inline long double weighted(long double x, long double weight) {
    return weight == 0 ? 0 : x * weight;
}

/// `low` and `high` are clamp's. Sigmoid has bounds of its own, below. Results that are only rounded need none.
inline expectation expect(elementwise_operation operation, const operation_accuracy& a, long double x,
                          long double low, long double high) {
    const long double unit = a.u;
    const auto exactly = [](long double value) { return expectation{value, 0}; };
    const auto relative = [](long double value, long double error) {
        return expectation{value, std::isfinite(value) ? std::abs(value) * error : 0};
    };
    const auto times = [](long double factor, expectation expected) {
        if (std::isfinite(factor)) expected.factor += std::abs(factor);
        return expected;
    };
    // gelu_tanh is x * logistic(u(x)). u(x) has seven roundings, which logistic multiplies by |u| logistic(-u).
    const long double linear = 2 * std::sqrt(2 / M_PIl), cubic = 0.044715L;
    const long double argument = linear * x * (1 + cubic * x * x);
    const long double slope = linear * (1 + 3 * cubic * x * x);
    const auto off = [&](long double factor) { return std::isfinite(argument) ? 7 * unit * factor : 0; };
    const long double gelu_off = off(std::abs(argument) * logistic(-argument));
    const long double density = std::exp(-0.5L * x * x) / std::sqrt(2 * M_PIl);
    const long double cdf = 0.5L * std::erfc(-x * std::sqrt(0.5L));

    using op = elementwise_operation;
    if (operation == op::clamp) return exactly(x < low ? low : x > high ? high : x);
    if (operation == op::abs) return exactly(std::abs(x));
    if (operation == op::exp) return relative(std::exp(x), 3 * unit);
    if (operation == op::tanh) return relative(std::tanh(x), a.tanh());
    if (operation == op::relu) return exactly(x < 0 ? 0 : x);
    if (operation == op::gelu) return times(x, relative(weighted(x, cdf), a.normal_cdf(x) + unit));
    if (operation == op::gelu_tanh)
        return times(x, relative(weighted(x, logistic(argument)), a.logistic(argument) + gelu_off + unit));
    if (operation == op::silu) return times(x, relative(weighted(x, logistic(x)), a.logistic(x) + unit));
    if (operation == op::sigmoid_derivative) return relative(logistic_slope(x), a.logistic_slope(x));
    if (operation == op::tanh_derivative) return relative(4 * logistic_slope(2 * x), a.logistic_slope(2 * x));
    if (operation == op::relu_derivative) return exactly(std::isnan(x) ? x : x > 0 ? 1 : 0);
    if (operation == op::gelu_derivative) {
        const long double second = weighted(x, density);
        const long double value = cdf + second;
        const long double error =
            cdf * a.normal_cdf(x) + std::abs(second) * (a.normal_density(x) + unit) + std::abs(value) * unit;
        return times(x, {value, std::isfinite(x) ? error : 0});
    }
    if (operation == op::gelu_tanh_derivative) {
        const long double second = weighted(x * slope, logistic_slope(argument));
        const long double value = logistic(argument) + second;
        const long double error =
            logistic(argument) * (a.shared_logistic(argument) + gelu_off) +
            std::abs(second) * (9 * unit + off(std::abs(argument)) + a.shared_slope(argument)) +
            std::abs(value) * unit;
        return times(x * slope, {value, std::isfinite(argument) ? error : 0});
    }
    if (operation == op::silu_derivative) {
        const long double second = weighted(x, logistic_slope(x));
        const long double value = logistic(x) + second;
        const long double error = logistic(x) * a.shared_logistic(x) +
                                  std::abs(second) * (a.shared_slope(x) + unit) + std::abs(value) * unit;
        return times(x, {value, std::isfinite(x) ? error : 0});
    }
    return exactly(std::numeric_limits<long double>::quiet_NaN());
}

template <class T>
long double largest() {
    if constexpr (std::is_same_v<T, half>)
        return 65504;
    else if constexpr (std::is_same_v<T, bfloat16>)
        return 0x1.fep127L;
    else
        return std::numeric_limits<T>::max();
}

/// Whether `actual` is `expected`, rounded to T: NaN for NaN, and infinite where `expected` may round to infinity.
template <class T>
bool is_expected(T actual, const expectation& expected) {
    constexpr double unit = unit_roundoff<T>();
    const long double value = to_double(actual);
    if (std::isnan(value) && std::isnan(expected.value)) return true;
    if (value == expected.value) return true;
    // Among denormals of the arithmetic, each of a few steps may be off by one denormal.
    const long double rounding = sizeof(T) == 2 ? std::abs(expected.value) * unit + smallest<T>() / 2 : 0;
    const long double bound =
        expected.error + rounding * (1 + 2 * unit) + 4 * expected.factor * smallest<compute_type<T>>();
    if (std::isinf(value) && std::abs(expected.value) + bound >= largest<T>() &&
        std::signbit(value) == std::signbit(expected.value))
        return true;
    return std::abs(value - expected.value) <= bound;
}

/// The errors of the functions that make a sigmoid.
struct sigmoid_accuracy {
    double exp_ulp = 1.5;          ///< of the exponential: base + slope * |argument|
    double exp_ulp_slope = 0;      ///< per unit of the argument
    double division_rounding = 1;  ///< of the division, in units of roundoff u
};

/// The CUDA Math API states errors against the correctly rounded result: 1 ulp for exp and expf, so 1.5 against the
/// exact one. glibc's are within 1 ulp of that. A quotient in float comes from a reciprocal within 1 ulp = 2u and the
/// exact remainder. The first quotient and the remainder's share are each off by 2u + u, so the last rounding adds u
/// to 9u^2. In double it is correctly rounded.
inline constexpr sigmoid_accuracy accurate_functions{.division_rounding = 1 + 9 * 0x1p-24};

/// __expf within 2 + floor(|1.173 x|) ulp and __fdividef within 2 ulp (CUDA Programming Guide, "Mathematical
/// Functions"), of the correctly rounded results.
inline constexpr sigmoid_accuracy fast_functions{2.5, 1.173, 5};

/// The error of exp(-|x|) in ulps, against the exact value.
inline double sigmoid_exp_ulp(double x, const sigmoid_accuracy& accuracy) {
    constexpr double exp_is_zero = 104;  // in float, the only one with a slope; keeps its term finite
    return accuracy.exp_ulp + std::floor(accuracy.exp_ulp_slope * std::min(std::abs(x), exp_is_zero));
}

/// The largest relative error of e / (1 + e) or 1 / (1 + e), e = exp(-|x|), computed in `Compute` and rounded to T.
/// An error of one ulp is at most two units of roundoff u. The error of e passes to the quotient at most once; the
/// sum adds one u, the division its own.
template <class T>
double sigmoid_relative_error(double x, const sigmoid_accuracy& accuracy) {
    constexpr double unit = unit_roundoff<compute_type<T>>();
    const double computed =
        (1 + 2 * sigmoid_exp_ulp(x, accuracy) * unit) / (1 - unit) * (1 + accuracy.division_rounding * unit) -
        1;
    return sizeof(T) == 2 ? (1 + computed) * (1 + unit_roundoff<T>()) - 1 : computed;
}

/// The additional error among denormals, where an ulp is the smallest number. In double and float a result is
/// denormal only where e is. Then 1 + e is 1, the quotient is e, and the error is that of e, in ulps. The fast
/// division adds its own, and a 16-bit type half of its smallest number.
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
    return logistic(static_cast<long double>(to_double(x)));
}

/// The error bound of a computed sigmoid.
template <class T>
long double sigmoid_bound(double x, long double exact, const sigmoid_accuracy& accuracy) {
    return sigmoid_relative_error<T>(x, accuracy) * exact + sigmoid_absolute_error<T>(x, accuracy);
}

/// Whether y is within the theory's bound of sigmoid(x), and NaN where x is.
template <class T>
bool is_sigmoid(T y, T x, const sigmoid_accuracy& accuracy) {
    const double input = to_double(x), output = to_double(y);
    if (std::isnan(input)) return std::isnan(output);
    const long double exact = exact_sigmoid(x);
    return std::abs(output - exact) <= sigmoid_bound<T>(input, exact, accuracy);
}

}  // namespace heddle::bounds
