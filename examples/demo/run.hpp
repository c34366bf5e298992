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
constexpr double sigmoid = 4 * unit_roundoff;
constexpr double extremum = 0;
/// Positive numbers, none of which passes through more additions than this.
constexpr double sum = 4096 * unit_roundoff;
/// Half a level for the rounding to whole levels, and a hundredth for the sums in float.
constexpr double blur = 0.51 / 255;

/// Positive factors: the largest result is the largest sum of absolute products.
constexpr double matmul(std::int64_t k) {
    return static_cast<double>(k) * unit_roundoff;
}

}  // namespace bounds
}  // namespace demo
