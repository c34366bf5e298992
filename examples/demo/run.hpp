#pragma once

#include "examples/demo/table.hpp"
#include "examples/demo/work.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace demo {

// Runs operations of every kind, and the vendor's. Prints a row for each, and returns the blurred photograph.

image run_on_gpu(const work& work, table& table);
image run_on_cpu(const work& work, table& table);

/// The bounds of docs/accuracy.md, as shares of the largest exact value, for the demonstration's data.
namespace bounds {

constexpr double unit_roundoff = 0x1p-24;  // float's
constexpr double add = unit_roundoff;
constexpr double sigmoid = 5 * unit_roundoff;
/// Where gelu is large, the condition number of erfc is at most a half.
constexpr double gelu = 13 * unit_roundoff;
constexpr double exact = 0;

/// For positive numbers, each of which goes through at most `depth` additions.
constexpr double sum(std::int64_t depth) {
    const double share = static_cast<double>(depth) * unit_roundoff;
    return share / (1 - share);
}

/// The steps that an element of a row goes through in the sums of softmax and layer_norm.
struct row_steps {
    double additions;
    double rescalings;
};

/// The relative error of a row's largest result, whose element is the row's largest.
inline double softmax(std::int64_t cols, const row_steps& steps) {
    constexpr double exponential = 3;
    const double sum = std::log(static_cast<double>(cols)) + 3 * exponential + steps.additions +
                       steps.rescalings * (exponential + 2);
    const double share = (sum + 2 * exponential + 4) * unit_roundoff;
    return share / (1 - share);
}

/// For numbers around 0 whose mean is less than their standard deviation. Then mean |x| is at most sqrt(2) standard
/// deviations, and the largest result is at least 1.
constexpr double layer_norm(const row_steps& steps) {
    const double depth = (steps.additions + 8) * unit_roundoff;
    const double shift = std::numbers::sqrt2 * depth;
    const double scale = (depth + 2 * shift + shift * shift) / 2 + 4 * unit_roundoff;
    return shift * (1 + scale) + scale + (3 + 2) * unit_roundoff;
}

/// For positive factors, so that the largest result is the largest sum of absolute products.
constexpr double matmul(std::int64_t k) {
    return static_cast<double>(k + 4) * unit_roundoff;
}

/// Half a level for the rounding to whole levels, plus the error of the sums in float.
constexpr double blur(std::int64_t radius) {
    return 0.5 / 255 + static_cast<double>(2 * (2 * radius + 1) + 4) * unit_roundoff;
}

}  // namespace bounds
}  // namespace demo
