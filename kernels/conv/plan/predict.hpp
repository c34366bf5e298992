#pragma once

#include "kernels/conv/cost/h200.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

/// What plans predict. Pure.
namespace heddle::kernels::conv {

/// The place of a row's cost, which is the same for each card. A name that has none does not compile.
struct cost_place {
    std::size_t at = 0;

    consteval cost_place(std::string_view row) {
        while (h200.rows.at(at).row != row) ++at;
    }
    consteval cost_place(const char* row) : cost_place(std::string_view(row)) {}
};

/// Those of all rows of a table.
template <const auto& kernels>
inline constexpr auto cost_places = []<std::size_t... row>(std::index_sequence<row...>) {
    return std::array{cost_place(kernels[row].name)...};
}
(std::make_index_sequence<kernels.size()>());

/// What a kernel does with a problem.
struct work {
    double bytes = 0;   ///< of the tensors that it reads and writes
    double rounds = 0;  ///< of blocks, one on each multiprocessor
    double steps = 0;   ///< of a block along its sums, and
    double staged = 0;  ///< copies beside them
};

constexpr double rounds_of(std::int64_t blocks, const device_traits& device) {
    return static_cast<double>((blocks + device.sm_count - 1) / device.sm_count);
}

inline double predicted_us(cost_place row, const device_traits& device, const work& of) {
    const row_cost& cost = costs_of(device).rows[row.at];
    return cost.start_us +
           std::max(of.bytes / cost.bytes_per_us,
                    of.rounds * (of.steps * cost.step_us + cost.around_us + of.staged * cost.staged_us));
}

}  // namespace heddle::kernels::conv
