#pragma once

#include "kernels/conv/cost/h200.hpp"
#include "kernels/device/cost_place.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

/// What plans predict. Pure.
namespace heddle::kernels::conv {

using cost_place = kernels::cost_place<h200>;
template <const auto& kernels>
inline constexpr auto& cost_places = kernels::cost_places<h200, kernels>;

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
