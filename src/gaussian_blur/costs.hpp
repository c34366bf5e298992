#pragma once

#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/plan/costs.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"
#include "src/gaussian_blur/needs.hpp"
#include <heddle/device.hpp>

#include <cstdint>
#include <limits>

/// What the rungs without tensor cores take, in microseconds: for ever where they cannot run. The tiles of `fused` need no such
/// number, as they are the fastest of these wherever they run.
namespace heddle::detail::blur_us {

using namespace kernels::separable_filter;

inline constexpr double for_ever = std::numeric_limits<double>::infinity();

inline double shared_memory(const filter_facts& p, const device_traits& device) {
    if (!p.has_scratch || !blur_needs::shared_memory(p, device).empty()) return for_ever;
    return us_of_two_passes(tuning_of(device).shared_memory, p);
}

inline double register_window(const filter_facts& p, const device_traits& device) {
    if (!p.has_scratch || !blur_needs::register_window(p, device).empty()) return for_ever;
    return us_of_two_passes(tuning_of(device).register_window, p);
}

inline double ring(const filter_facts& p, const device_traits& device) {
    if (!blur_needs::ring(p, device).empty()) return for_ever;
    const fused_ring_plan plan = plan_fused_ring(p, device);
    const auto& numbers = tuning_of(device);
    const std::int64_t lead = plan.layout.lead;
    return us_of_rows(p.type == pixel_type::f32 ? numbers.ring_of_float : numbers.ring_of_others, p,
                      plan.grid, plan.march, plan.march.rows_per_block + lead, 1,
                      static_cast<double>(lead + 2 * p.radius.x), device);
}

/// The time of warps whose lanes own `values` neighbours and hold the sums of all rows of a window.
inline double registers(const tuning::rows& costs, const filter_facts& p, const kernel_grid& grid,
                        const march& down, std::int64_t rows, int values, const device_traits& device) {
    return us_of_rows(costs, p, grid, down, rows, values * both_radii(p),
                      static_cast<double>(grid.threads.x * values * p.value_bytes()), device);
}

inline double strips(const filter_facts& p, const device_traits& device) {
    if (!blur_needs::strips(p, device).empty()) return for_ever;
    const fused_strips_plan plan = plan_fused_strips(p, device);
    const strip_shape shape(p.value_bytes(), static_cast<int>(p.channels), static_cast<int>(p.radius.x),
                            plan.aligned);
    return registers(tuning_of(device).strips, p, plan.grid, plan.march,
                     plan.march.rows_per_block + 2 * p.radius.y, shape.values, device);
}

/// The warps of a chain share the rows that a warp by itself filters to start.
inline double chains(const filter_facts& p, const device_traits& device) {
    if (!blur_needs::chains(p, device).empty()) return for_ever;
    const fused_chains_plan plan = plan_fused_chains(p, device);
    const bool is_alone = plan.grid.threads.x == strip_shape::lanes;
    return registers(tuning_of(device).chains, p, plan.grid, plan.march,
                     plan.rows_per_warp + (is_alone ? 2 * p.radius.y : 0), packet_bytes / p.value_bytes(),
                     device);
}

}  // namespace heddle::detail::blur_us
