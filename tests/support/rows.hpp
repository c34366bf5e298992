#pragma once

#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

/// The common parts of tests of operations on each row of a matrix.
namespace heddle::test {

using row_types = testing::Types<float, half, bfloat16>;

/// The layout of a matrix in memory.
struct row_layout {
    std::int64_t offset = 0;   ///< elements off the allocation's alignment
    std::int64_t padding = 0;  ///< elements after each row (each column of a column-major matrix)
    std::int64_t step = 1;     ///< from an element to its neighbour
    bool column_major = false;
};

template <class T>
guarded<T> make_rows(std::int64_t rows, std::int64_t cols, const row_layout& l,
                     typename guarded<T>::memory where = guarded<T>::memory::device) {
    const std::int64_t line = (l.column_major ? rows : cols) * l.step + l.padding;
    return l.column_major ? guarded<T>(rows, cols, l.step, l.offset, line, where)
                          : guarded<T>(rows, cols, line, l.offset, l.step, where);
}

/// Whether `actual` is the infinity to which T rounds the greatest number within the bound.
template <class T>
bool is_rounded_to_infinity(T actual, double expected, double bound) {
    const auto greatest =
        static_cast<T>(static_cast<compute_type<T>>(std::copysign(std::abs(expected) + bound, expected)));
    return std::isinf(to_double(greatest)) && to_double(actual) == to_double(greatest);
}

/// Every |actual - expected| is within its bound, or rounds to infinity. Where expected is NaN or infinite, actual is
/// the same. Written so that NaN fails.
template <class T>
testing::AssertionResult are_within(const std::vector<T>& actual, const std::vector<double>& expected,
                                    const std::vector<double>& bounds) {
    if (actual.size() != expected.size()) return testing::AssertionFailure() << "sizes disagree";
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (auto result = is_within(to_double(actual[i]), expected[i], bounds[i]);
            !result && !is_rounded_to_infinity(actual[i], expected[i], bounds[i]))
            return result << " (element " << i << ')';
    return testing::AssertionSuccess();
}

/// A graph of run(1) that is launched three times gives the bits of run(0): run(i) writes the i-th of each two results.
template <class Run, class... Results>
void expect_same_bits_in_a_graph(const stream& s, Run run, Results (&... results)[2]) {
    run(0);
    const graph captured = graph::capture(s, [&] { run(1); });
    for (int i = 0; i < 3; ++i) captured.launch(s);
    s.synchronize();
    const auto check = [](auto& both) {
        const auto first = both[0].download(), second = both[1].download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(first[0])), 0);
    };
    (check(results), ...);
}

template <class T>
T infinity() {
    return static_cast<T>(std::numeric_limits<float>::infinity());
}
template <class T>
T not_a_number() {
    return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
}

}  // namespace heddle::test
