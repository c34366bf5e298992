#pragma once

#include "kernels/device/cost_place.hpp"
#include "kernels/gaussian_blur/cost/h200.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include <heddle/device.hpp>

#include <cstdint>

/// Predicts the times of plans. Pure.
namespace heddle::kernels::gaussian_blur {

using cost_place = kernels::cost_place<h200>;

/// The work that a problem makes for a kernel.
struct work {
    double bytes = 0;  ///< of the images that it reads and writes
    double waits = 0;  ///< steps that wait for one another, in all waves of blocks
    double units = 0;  ///< a multiprocessor's work, in a measure of the kernel's own
};

inline double predicted_us(cost_place row, const device_traits& device, const work& amount) {
    const row_cost& cost = costs_of(device).rows[row.at];
    return cost.start_us + amount.bytes / cost.bytes_per_us + amount.waits * cost.wait_us +
           amount.units * cost.unit_us;
}

constexpr double values_of(const filter_facts& p) {
    return static_cast<double>(p.row_values()) * static_cast<double>(p.height) *
           static_cast<double>(p.images);
}
/// Bytes of the source and of the destination, each counted once.
constexpr double image_bytes(const filter_facts& p) {
    return 2 * values_of(p) * p.value_bytes();
}
/// Half of the pixels of both windows, along x and along y, without their middle ones.
constexpr double both_radii(const filter_facts& p) {
    return static_cast<double>(p.radius.x) + static_cast<double>(p.radius.y);
}

/// The work of blocks that each take `steps`, one after the other. A multiprocessor holds `resident` blocks at a time. A
/// block's step is `step_waits` and `step_units`.
inline work marching(const filter_facts& p, std::int64_t blocks, std::int64_t resident, double steps,
                     double step_waits, double step_units, const device_traits& device) {
    const auto of_sm = static_cast<double>(divide_up(blocks, device.sm_count)),
               waves = static_cast<double>(divide_up(blocks, resident * device.sm_count));
    return {image_bytes(p), waves * steps * step_waits, of_sm * steps * step_units};
}

}  // namespace heddle::kernels::gaussian_blur
