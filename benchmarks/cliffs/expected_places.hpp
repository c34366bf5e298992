#pragma once

#include "benchmarks/cliffs/operands.hpp"
#include "benchmarks/cliffs/reference.hpp"
#include "tests/bounds/approximate.hpp"
#include "tests/bounds/norm.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// What is expected of a result, and what bounds of operations on rows take.
namespace heddle::bench::cliffs {

/// What some places of a result should have, in their order, and what they may be off by.
struct expected_places {
    std::vector<place> places;
    std::vector<double> values, bounds;

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
    void add(const bounds::approximate& of) { add(of.value, of.bound); }
    /// What is wrong with the result of this name: between its elements too, where poison() was the last to write there.
    template <class T>
    [[nodiscard]] std::string wrong(const std::string& name, operand<T>& result, double slack,
                                    bool was_poisoned = true) const {
        std::string what = mismatch(result.view(), places, values, bounds, slack);
        if (what.empty() && was_poisoned) what = result.changed_gap();
        return what.empty() ? what : name + ": " + what;
    }
};

/// The columns of a row as bounds count them: where a bound of many more says nothing, that of fewer is too far off.
inline std::int64_t counted_columns(std::int64_t cols) {
    return std::min(cols, std::int64_t{1} << 24);
}

inline bounds::row_moments moments_of(bounds::norm_operation op, const line_facts& row, double cols) {
    const bool is_layer = op == bounds::norm_operation::layer_norm;
    return {is_layer ? row.sum / cols : 0, row.magnitudes / cols,
            (is_layer ? row.deviations : row.squares) / cols};
}

}  // namespace heddle::bench::cliffs
