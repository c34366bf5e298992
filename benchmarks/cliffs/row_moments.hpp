#pragma once

#include "benchmarks/cliffs/family.hpp"
#include "tests/bounds/norm.hpp"

namespace heddle::bench::cliffs {

/// The facts of a row from which the bounds of a norm are computed.
inline bounds::row_moments moments_of(bounds::norm_operation op, const line_facts& row, double cols) {
    const bool is_layer = op == bounds::norm_operation::layer_norm;
    return {is_layer ? row.sum / cols : 0, row.magnitudes / cols,
            (is_layer ? row.deviations : row.squares) / cols};
}

}  // namespace heddle::bench::cliffs
