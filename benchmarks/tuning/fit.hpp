#pragma once

#include "benchmarks/tuning/cases.hpp"
#include "benchmarks/tuning/rows.hpp"

#include <span>
#include <vector>

namespace heddle::bench::tuning {

/// Changes `current` number by number, as long as that makes what is lost smaller (coordinate descent). A row of the benchmarks that
/// is not among the products keeps its plan, as no measured time speaks for another.
void fit(std::span<const timed_product* const> to, std::span<const row> rows);

}  // namespace heddle::bench::tuning
