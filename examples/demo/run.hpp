#pragma once

#include "examples/demo/table.hpp"
#include "examples/demo/work.hpp"

namespace demo {

// Each runs every operation beside the vendor's, prints its row, and returns the blurred photograph.

image run_on_gpu(const work& work, table& table);
image run_on_cpu(const work& work, table& table);

/// The bounds of docs/accuracy.md, as shares of the largest exact value, for the demonstration's data.
namespace bounds {

constexpr double unit_roundoff = 0x1p-24;  // of float
constexpr double add = unit_roundoff;
constexpr double sigmoid = 5 * unit_roundoff;
constexpr double extremum = 0;

/// Positive numbers, none of which goes through more than `depth` additions.
constexpr double sum(std::int64_t depth) {
    const double share = static_cast<double>(depth) * unit_roundoff;
    return share / (1 - share);
}

/// Positive factors: the largest result is the largest sum of absolute products.
constexpr double matmul(std::int64_t k) {
    return static_cast<double>(k + 4) * unit_roundoff;
}

/// Half a level for the rounding to whole levels, and the sums in float.
constexpr double blur(std::int64_t radius) {
    return 0.5 / 255 + static_cast<double>(2 * (2 * radius + 1) + 4) * unit_roundoff;
}

}  // namespace bounds
}  // namespace demo
