#pragma once

#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace heddle::test {

/// The exact value of an element as a double (of an int64, the nearest one).
template <class T>
double to_double(T value) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
        return static_cast<double>(static_cast<float>(value));
    else
        return static_cast<double>(value);
}

/// The unit roundoff: half the distance from 1 to the next number.
template <class T>
constexpr double unit_roundoff() {
    if constexpr (std::is_same_v<T, half>)
        return 0x1p-11;
    else if constexpr (std::is_same_v<T, bfloat16>)
        return 0x1p-8;
    else
        return std::numeric_limits<T>::epsilon() / 2;
}

/// The smallest positive (denormal) number: what a result near zero may be off by, whatever its relative
/// error.
template <class T>
constexpr double smallest() {
    if constexpr (std::is_same_v<T, half>)
        return 0x1p-24;
    else if constexpr (std::is_same_v<T, bfloat16>)
        return 0x1p-133;
    else
        return std::numeric_limits<T>::denorm_min();
}

inline testing::AssertionResult too_far(double actual, double expected, double bound) {
    return testing::AssertionFailure()
           << actual << " is " << std::abs(actual - expected) << " from " << expected << ", bound " << bound;
}

/// Passes where both are NaN, both the same infinity, or |actual - expected| <= bound. Written so that NaN
/// fails.
inline testing::AssertionResult is_within(double actual, double expected, double bound) {
    const bool is_close = std::isfinite(expected) && std::abs(actual - expected) <= bound;
    if (is_close || actual == expected || (std::isnan(expected) && std::isnan(actual)))
        return testing::AssertionResult(true);
    return too_far(actual, expected, bound);
}

template <class T>
constexpr const char* type_name() {
    if constexpr (std::is_same_v<T, double>) return "f64";
    if constexpr (std::is_same_v<T, float>) return "f32";
    if constexpr (std::is_same_v<T, half>) return "f16";
    if constexpr (std::is_same_v<T, bfloat16>) return "bf16";
    if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
    if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
    if constexpr (std::is_same_v<T, std::uint16_t>) return "u16";
    if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
    if constexpr (std::is_same_v<T, std::uint16_t>) return "u16";
}

/// Names the cases of a typed test suite by their element type.
struct type_names {
    template <class T>
    static std::string GetName(int) {
        return type_name<T>();
    }
};

}  // namespace heddle::test
