#pragma once

#include "tests/bounds/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::bounds {

/// A number in double, and a bound of the error of the float that represents it: running error analysis (Wilkinson).
/// The operators propagate the bounds of their operands, and rounded() adds that of one rounding.
struct approximate {
    double value = 0;
    double bound = 0;

    approximate() = default;
    approximate(double v, double b = 0) : value(v), bound(b) {}

    friend approximate operator+(const approximate& a, const approximate& b) {
        return {a.value + b.value, a.bound + b.bound};
    }
    friend approximate operator-(const approximate& a, const approximate& b) {
        return {a.value - b.value, a.bound + b.bound};
    }
    friend approximate operator*(const approximate& a, const approximate& b) {
        return {a.value * b.value,
                std::abs(a.value) * b.bound + std::abs(b.value) * a.bound + a.bound * b.bound};
    }
    friend approximate operator/(const approximate& a, const approximate& b) {
        const double value = a.value / b.value;
        return {value, (a.bound + std::abs(value) * b.bound) / std::max(std::abs(b.value) - b.bound, 0.0)};
    }
};

/// Rounded to float. Options are rounded so too.
inline approximate rounded(const approximate& a, double roundings = 1) {
    const double relative = roundings * u;
    return {a.value, a.bound + relative / (1 - relative) * (std::abs(a.value) + a.bound) +
                         roundings * smallest<float>()};
}

/// Rounded to T.
template <class T>
double stored_as(const approximate& a) {
    return stored_as<T>(a.value, a.bound);
}

inline approximate root_of(const approximate& a) {
    const double root = std::sqrt(a.value);  // |sqrt(a) - sqrt(b)| = |a - b| / (sqrt(a) + sqrt(b))
    return {root, root > 0 ? std::min(a.bound / root, std::sqrt(a.bound)) : std::sqrt(a.bound)};
}

}  // namespace heddle::bounds
