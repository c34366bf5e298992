#pragma once

#include "tests/support/numeric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace heddle::test {

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

}  // namespace heddle::test
