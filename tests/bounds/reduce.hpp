#pragma once

#include "tests/bounds/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::bounds {

/// docs/accuracy.md, Reductions: a share of the sum of magnitudes, for at most so many additions of any element.
inline double of_additions(double depth, double roundoff) {
    return depth * roundoff / (1 - depth * roundoff);
}

/// docs/accuracy.md, Rows and columns of a matrix: for n elements, with `squares` their sum of squared distances from
/// the mean. Each merger moves a mean by at most 7 u of the largest |x|.
inline double of_variance(double depth, double n, double squares, double largest, double divisor) {
    const double d = depth + 4, e = 7 * d * std::sqrt(std::max(std::log2(n), 1.0)) * u * largest;
    const double exact = squares / n;
    return (8 * d * u * exact + 2 * e * std::sqrt(exact) + e * e) * n / divisor;
}

}  // namespace heddle::bounds
