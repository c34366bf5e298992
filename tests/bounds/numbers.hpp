#pragma once

#include <heddle/types.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

/// Error bounds of results against their exact values; docs/accuracy.md proves each. Tests and benchmarks share them.
namespace heddle::bounds {

/// The exact value of an element as a double (for an int64, the nearest double).
template <class T>
double to_double(T value) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
        return static_cast<double>(static_cast<float>(value));
    else
        return static_cast<double>(value);
}

/// The unit roundoff: half the distance from 1 to the next number. 0 for integers.
template <class T>
constexpr double unit_roundoff() {
    if constexpr (std::is_same_v<T, half>)
        return 0x1p-11;
    else if constexpr (std::is_same_v<T, bfloat16>)
        return 0x1p-8;
    else
        return static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

/// The smallest positive (denormal) number, a lower limit of errors near zero. 0 for integers.
template <class T>
constexpr double smallest() {
    if constexpr (std::is_same_v<T, half>)
        return 0x1p-24;
    else if constexpr (std::is_same_v<T, bfloat16>)
        return 0x1p-133;
    else
        return static_cast<double>(std::numeric_limits<T>::denorm_min());
}

/// The unit roundoff of float, and so of results that are computed in float.
inline constexpr double u = unit_roundoff<float>();

/// The error as a T of a float that is off by `error`: 16 bits round once more.
template <class T>
double stored_as(double value, double error) {
    return error + (sizeof(T) == 2 ? unit_roundoff<T>() * (std::abs(value) + error) : 0) + smallest<T>();
}

}  // namespace heddle::bounds
