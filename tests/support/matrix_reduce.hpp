#pragma once

#include "tests/bounds/reduce.hpp"
#include "tests/support/numeric.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heddle::test {

/// The reductions of one row, in float64.
struct reduced_row {
    double sum = 0;
    double magnitude = 0;  ///< the sum of |x|
    double largest_magnitude = 0;
    double smallest = HUGE_VAL;
    double largest = -HUGE_VAL;
    std::int64_t argmax = -1;
    std::int64_t length = 0;
    double squares = 0;  ///< the sum of squared distances from the mean

    /// element(j) is the j-th of `size`.
    template <class Element>
    reduced_row(std::int64_t size, Element element) : length(size) {
        double best = 0;
        for (std::int64_t j = 0; j < size; ++j) {
            const double e = element(j);
            sum += e;
            magnitude += std::abs(e);
            largest_magnitude = std::max(largest_magnitude, std::abs(e));
            if (std::isnan(e) || e < smallest) smallest = std::isnan(smallest) ? smallest : e;
            if (std::isnan(e) || e > largest) largest = std::isnan(largest) ? largest : e;
            if (j == 0 || e > best || (std::isnan(e) && !std::isnan(best))) {
                best = e;
                argmax = j;
            }
        }
        const double mean = sum / static_cast<double>(size);
        for (std::int64_t j = 0; j < size; ++j) squares += (element(j) - mean) * (element(j) - mean);
    }
};

/// docs/accuracy.md, "Rows and columns of a matrix": `depth` additions of float, and float64's own error.
inline double sum_bound(const reduced_row& row, std::int64_t depth) {
    return (bounds::of_additions(static_cast<double>(depth), unit_roundoff<float>()) +
            static_cast<double>(row.length) * 0x1p-53) *
           row.magnitude;
}

/// One more division, by a length that was rounded to float.
inline double mean_bound(const reduced_row& row, std::int64_t depth) {
    return sum_bound(row, depth + 3) / static_cast<double>(row.length) + smallest<float>();
}

inline double variance_bound(const reduced_row& row, std::int64_t depth, double divisor) {
    return bounds::of_variance(static_cast<double>(depth), static_cast<double>(row.length), row.squares,
                               row.largest_magnitude, divisor) +
           smallest<float>();
}

}  // namespace heddle::test
