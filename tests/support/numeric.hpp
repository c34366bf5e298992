#pragma once

#include "tests/bounds/numbers.hpp"
#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::test {

using bounds::smallest;
using bounds::to_double;
using bounds::unit_roundoff;

inline testing::AssertionResult too_far(double actual, double expected, double bound) {
    return testing::AssertionFailure()
           << actual << " is " << std::abs(actual - expected) << " from " << expected << ", bound " << bound;
}

/// Passes where both are NaN, both the same infinity, or |actual - expected| <= bound. Written so that NaN fails.
inline testing::AssertionResult is_within(double actual, double expected, double bound) {
    const bool is_close = std::isfinite(expected) && std::abs(actual - expected) <= bound;
    if (is_close || actual == expected || (std::isnan(expected) && std::isnan(actual)))
        return testing::AssertionResult(true);
    return too_far(actual, expected, bound);
}

/// Passes where the elements agree in every bit; any NaN agrees with any other.
template <class T>
testing::AssertionResult are_same(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) return testing::AssertionFailure() << "sizes disagree";
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double a = to_double(actual[i]), e = to_double(expected[i]);
        if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0 && !(std::isnan(a) && std::isnan(e)))
            return testing::AssertionFailure() << "element " << i << " is " << a << ", expected " << e;
    }
    return testing::AssertionSuccess();
}

template <class T>
constexpr const char* type_name() {
    if constexpr (std::is_same_v<T, double>) return "f64";
    if constexpr (std::is_same_v<T, float>) return "f32";
    if constexpr (std::is_same_v<T, half>) return "f16";
    if constexpr (std::is_same_v<T, bfloat16>) return "bf16";
    if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
    if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
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
