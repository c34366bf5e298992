#pragma once

#include "kernels/conv/cost/h200.hpp"
#include "kernels/device/cost_place.hpp"
#include "kernels/device/math.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

/// Predictions of the time that a plan takes. Pure.
namespace heddle::kernels::conv {

using cost_place = kernels::cost_place<h200>;
template <const auto& kernels>
inline constexpr auto& cost_places = kernels::cost_places<h200, kernels>;

/// The work of a kernel for a problem.
struct work {
    double bytes = 0;   ///< of tensors, read and written
    double rounds = 0;  ///< of blocks, with one on each multiprocessor
    double steps = 0;   ///< of a block along its sums
    double staged = 0;  ///< copies of a block beside its steps
};

constexpr double rounds_of(std::int64_t blocks, const device_traits& device) {
    return static_cast<double>(divide_up(blocks, device.sm_count));
}

inline double predicted_us(cost_place row, const device_traits& device, const work& w) {
    const row_cost& cost = costs_of(device).rows[row.at];
    return cost.start_us +
           std::max(w.bytes / cost.bytes_per_us,
                    w.rounds * (w.steps * cost.step_us + cost.around_us + w.staged * cost.staged_us));
}

}  // namespace heddle::kernels::conv
