#pragma once

#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/plan/costs.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"
#include "src/gaussian_blur/needs.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

/// Where the kernels of the blur pay: the last of the table that does, and can run, is the fastest.
namespace heddle::detail {

using kernels::separable_filter::problem;
using kernels::separable_filter::tuning_of;

inline bool pays_decimated(const problem& p, const device_traits& device) {
    return !p.exact && std::min(p.sigma.x, p.sigma.y) >= tuning_of(device).min_sigma_of_decimated;
}

/// What the rungs take that use no tensor cores and hold no tiles, in microseconds: for ever where they cannot run.
namespace blur_us {

using namespace kernels::separable_filter;

inline constexpr double for_ever = std::numeric_limits<double>::infinity();

inline double shared_memory(const problem& p, const device_traits& device) {
    if (!p.has_scratch || !blur_needs::shared_memory(p, device).empty()) return for_ever;
    return us_of_two_passes(tuning_of(device).shared_memory, p);
}

inline double register_window(const problem& p, const device_traits& device) {
    if (!p.has_scratch || !blur_needs::register_window(p, device).empty()) return for_ever;
    return us_of_two_passes(tuning_of(device).register_window, p);
}

inline double ring(const problem& p, const device_traits& device) {
    if (!blur_needs::ring(p, device).empty()) return for_ever;
    const fused_ring_plan plan = plan_fused_ring(p, device);
    const auto& numbers = tuning_of(device);
    const std::int64_t lead = plan.layout.lead;
    return us_of_rows(p.type == pixel_type::f32 ? numbers.ring_of_float : numbers.ring_of_others, p,
                      plan.grid, plan.march, plan.march.rows_per_block + lead, 1,
                      static_cast<double>(lead + 2 * p.radius.x), device);
}

/// Of warps whose lanes own `values` neighbours and hold the sums of all rows of a window.
inline double registers(const tuning::rows& costs, const problem& p, const kernel_grid& grid,
                        const march& down, std::int64_t rows, int values, const device_traits& device) {
    return us_of_rows(costs, p, grid, down, rows, values * both_radii(p),
                      static_cast<double>(grid.threads.x * values * p.value_bytes()), device);
}

inline double strips(const problem& p, const device_traits& device) {
    if (!blur_needs::strips(p, device).empty()) return for_ever;
    const fused_strips_plan plan = plan_fused_strips(p, device);
    const strip_shape shape(p.value_bytes(), static_cast<int>(p.channels), static_cast<int>(p.radius.x),
                            plan.aligned);
    return registers(tuning_of(device).strips, p, plan.grid, plan.march,
                     plan.march.rows_per_block + 2 * p.radius.y, shape.values, device);
}

/// The warps of a chain share the rows that a warp by itself filters to start.
inline double chains(const problem& p, const device_traits& device) {
    if (!blur_needs::chains(p, device).empty()) return for_ever;
    const fused_chains_plan plan = plan_fused_chains(p, device);
    const bool is_alone = plan.grid.threads.x == strip_shape::lanes;
    return registers(tuning_of(device).chains, p, plan.grid, plan.march,
                     plan.rows_per_warp + (is_alone ? 2 * p.radius.y : 0), packet_bytes / p.value_bytes(),
                     device);
}

/// Whether a row takes no longer than those before it in the table. The rows after it were found to take longer than one of
/// these.
template <auto own, auto... before>
bool is_least(const problem& p, const device_traits& device) {
    if (p.is_asked_for) return true;
    const double us = own(p, device);
    return (... && (us <= before(p, device)));
}

}  // namespace blur_us

inline constexpr auto pays_register_window =
    blur_us::is_least<blur_us::register_window, blur_us::shared_memory>;
inline constexpr auto pays_ring =
    blur_us::is_least<blur_us::ring, blur_us::register_window, blur_us::shared_memory>;
inline constexpr auto pays_strips =
    blur_us::is_least<blur_us::strips, blur_us::register_window, blur_us::shared_memory, blur_us::ring>;
inline constexpr auto pays_chains = blur_us::is_least<blur_us::chains, blur_us::register_window,
                                                      blur_us::shared_memory, blur_us::ring, blur_us::strips>;

/// Whether a Gaussian's window is so large that products are faster than `fused`. Beyond all that its registers hold where
/// words of a row are not words of memory. Small windows of small images are soonest done by its tiles.
inline bool pays_beside_fused(const problem& p, const device_traits& device,
                              const kernels::separable_filter::tuning::radii& least) {
    using namespace kernels::separable_filter;
    const std::int64_t of_registers = max_register_radius(p.type, p.channels);
    const bool is_equal = p.radius.x == p.radius.y;
    const std::int64_t radius = !p.in_words ? of_registers + 1 : is_equal ? least.equal : least.unequal;
    return p.is_asked_for || (p.largest_radius() >= radius && !is_one_wave_of_tiles(p, device));
}

inline bool pays_mma_xy(const problem& p, const device_traits& device) {
    return pays_beside_fused(p, device, tuning_of(device).min_radius_on_tensor_cores);
}

inline bool is_box(const problem& p) {
    return p.window == kernels::separable_filter::window::box;
}

inline bool pays_mma_x_registers_y(const problem& p, const device_traits& device) {
    const auto& least = tuning_of(device).min_radius_of_small_windows;
    if (is_box(p)) return p.largest_radius() >= (p.radius.x == p.radius.y ? least.equal : least.unequal);
    return pays_beside_fused(p, device, least);
}

/// Whether tiles are enough for wgmma_xy to be faster than what else runs on the tensor cores: each row of a window takes
/// mma_x_registers_y longer, and wgmma_xy not.
inline bool has_many_tiles(const problem& p, const device_traits& device) {
    const auto& numbers = tuning_of(device);
    const std::int64_t tiles = kernels::separable_filter::warpgroup_tiles(p), processors = device.sm_count;
    if (!blur_needs::registers(p, device).empty())
        return p.reach() >= numbers.min_wgmma_reach ||
               static_cast<double>(tiles) >= numbers.min_wgmma_tiles_per_sm * static_cast<double>(processors);
    const auto& crossing = is_box(p) ? numbers.wgmma_of_boxes : numbers.wgmma_of_gaussians;
    return tiles * (p.radius.y - crossing.radius_y) >= crossing.tiles_per_sm * processors;
}

inline bool pays_wgmma_xy(const problem& p, const device_traits& device) {
    const auto& numbers = tuning_of(device);
    const bool are_many = has_many_tiles(p, device);
    if (!is_box(p))
        return p.is_asked_for ||
               (are_many && pays_beside_fused(p, device, numbers.min_radius_on_tensor_cores));
    if (are_many) return p.largest_radius() >= numbers.min_radius_of_boxes_of_many_tiles;
    return !blur_needs::registers(p, device).empty() &&
           p.largest_radius() >= numbers.min_radius_of_boxes_of_few_tiles;
}

inline bool pays_mma_xy_by_channel(const problem& p, const device_traits& device) {
    const auto& numbers = tuning_of(device);
    const bool is_high = p.radius.y >= numbers.min_radius_y_of_channels;
    return p.is_asked_for || ((is_high || !blur_needs::registers(p, device).empty()) &&
                              pays_beside_fused(p, device, numbers.min_radius_of_small_windows));
}

}  // namespace heddle::detail
