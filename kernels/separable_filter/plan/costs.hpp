#pragma once

#include "kernels/separable_filter/facts.hpp"
#include "kernels/separable_filter/plan/grids.hpp"
#include "kernels/separable_filter/plan/window.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"
#include <heddle/device.hpp>

#include <cstdint>

/// What kernels take, in microseconds, by the card's numbers.
namespace heddle::kernels::separable_filter {

/// Half of the pixels that a window has beside its middle one, along one axis and along the other.
constexpr double both_radii(const filter_facts& p) {
    return static_cast<double>(p.radius.x) + static_cast<double>(p.radius.y);
}

inline double us_of_two_passes(const tuning::two_passes& costs, const filter_facts& p) {
    const double value_ps = costs.value_ps + costs.value_radius_ps * both_radii(p) +
                            costs.value_reach_ps * static_cast<double>(p.reach());
    const double values =
        static_cast<double>(p.row_values()) * static_cast<double>(p.height) * static_cast<double>(p.images);
    return costs.us + costs.radius_us * both_radii(p) + values * value_ps * 1e-6;
}

/// `rows` a block, the ones that are filtered only to start too. A row waits for `waits` and is `work`, as `costs` count them.
inline double us_of_rows(const tuning::rows& costs, const filter_facts& p, const kernel_grid& grid,
                         const march& down, std::int64_t rows, double waits, double work,
                         const device_traits& device) {
    const std::int64_t blocks_of_sm = divide_up(grid.blocks.x * p.images, device.sm_count);
    const double row_ns = static_cast<double>(down.waves) * waits * costs.wave_ns +
                          static_cast<double>(blocks_of_sm) * work * costs.block_ns;
    return costs.us + static_cast<double>(rows) * row_ns * 1e-3;
}

}  // namespace heddle::kernels::separable_filter
