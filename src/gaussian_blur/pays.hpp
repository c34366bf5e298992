#pragma once

#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"
#include "src/gaussian_blur/costs.hpp"
#include "src/gaussian_blur/needs.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

/// Where the kernels of the blur pay: the last of the table that does, and can run, is the fastest.
namespace heddle::detail {

using kernels::separable_filter::filter_facts;
using kernels::separable_filter::tuning_of;

inline bool pays_decimated(const filter_facts& p, const device_traits& device) {
    return !p.exact && std::min(p.sigma.x, p.sigma.y) >= tuning_of(device).min_sigma_of_decimated;
}

/// Whether a row takes no longer than those before it in the table. The rows after it were found to take longer than one of
/// these.
template <auto own, auto... before>
bool is_least(const filter_facts& p, const device_traits& device) {
    if (p.is_asked_for) return true;
    const double us = own(p, device);
    return (... && (us <= before(p, device)));
}

inline constexpr auto pays_register_window = is_least<blur_us::register_window, blur_us::shared_memory>;
inline constexpr auto pays_ring = is_least<blur_us::ring, blur_us::register_window, blur_us::shared_memory>;
inline constexpr auto pays_strips =
    is_least<blur_us::strips, blur_us::register_window, blur_us::shared_memory, blur_us::ring>;
inline constexpr auto pays_chains = is_least<blur_us::chains, blur_us::register_window,
                                             blur_us::shared_memory, blur_us::ring, blur_us::strips>;

/// Whether the tiles of `fused` take a window and a source that lies so.
inline bool takes_tiles(const filter_facts& p) {
    using namespace kernels::separable_filter;
    return p.has_one_radius_up_to(max_tile_radius(p.type, p.channels)) &&
           p.source_alignment() >= tile_shape::of(p).packet_bytes(p);
}

/// Whether a Gaussian's window is so large that products are faster than `fused`. Small windows of small images are soonest
/// done by its tiles.
inline bool pays_beside_fused(const filter_facts& p, const device_traits& device,
                              const kernels::separable_filter::tuning::radii& least) {
    using namespace kernels::separable_filter;
    const std::int64_t radius = p.radius.x == p.radius.y ? least.equal : least.unequal;
    return p.is_asked_for ||
           (p.largest_radius() >= radius && !(takes_tiles(p) && is_one_wave_of_tiles(p, device)));
}

inline bool pays_mma_xy(const filter_facts& p, const device_traits& device) {
    return pays_beside_fused(p, device, tuning_of(device).min_radius_on_tensor_cores);
}

inline bool is_box(const filter_facts& p) {
    return p.window == kernels::separable_filter::window::box;
}

/// The least radii of the rungs of small windows. One radius is like two where the tiles of `fused` do not run.
inline kernels::separable_filter::tuning::radii least_of_small_windows(const filter_facts& p,
                                                                       const device_traits& device) {
    auto least = tuning_of(device).min_radius_of_small_windows;
    if (!takes_tiles(p)) least.equal = least.unequal;
    return least;
}

inline bool pays_mma_x_registers_y(const filter_facts& p, const device_traits& device) {
    const auto least = least_of_small_windows(p, device);
    if (is_box(p)) return p.largest_radius() >= (p.radius.x == p.radius.y ? least.equal : least.unequal);
    return pays_beside_fused(p, device, least);
}

/// Whether tiles are enough for wgmma_xy to be faster than what else runs on the tensor cores: each row of a window takes
/// mma_x_registers_y longer, and wgmma_xy not.
inline bool has_many_tiles(const filter_facts& p, const device_traits& device) {
    const auto& numbers = tuning_of(device);
    const std::int64_t tiles = kernels::separable_filter::warpgroup_tiles(p), processors = device.sm_count;
    if (!blur_needs::registers(p, device).empty())
        return p.reach() >= numbers.min_wgmma_reach ||
               static_cast<double>(tiles) >= numbers.min_wgmma_tiles_per_sm * static_cast<double>(processors);
    const auto& crossing = is_box(p) ? numbers.wgmma_of_boxes : numbers.wgmma_of_gaussians;
    return tiles * (p.radius.y - crossing.radius_y) >= crossing.tiles_per_sm * processors;
}

inline bool pays_wgmma_xy(const filter_facts& p, const device_traits& device) {
    const auto& numbers = tuning_of(device);
    const bool are_many = has_many_tiles(p, device);
    if (!is_box(p))
        return p.is_asked_for ||
               (are_many && pays_beside_fused(p, device, numbers.min_radius_on_tensor_cores));
    if (are_many) return p.largest_radius() >= numbers.min_radius_of_boxes_of_many_tiles;
    return !blur_needs::registers(p, device).empty() &&
           p.largest_radius() >= numbers.min_radius_of_boxes_of_few_tiles;
}

inline bool pays_mma_xy_by_channel(const filter_facts& p, const device_traits& device) {
    const auto& numbers = tuning_of(device);
    const std::int64_t least = numbers.min_radius_y_of_channels;
    return p.is_asked_for || ((p.radius.y >= least || !blur_needs::registers(p, device).empty()) &&
                              pays_beside_fused(p, device, least_of_small_windows(p, device)));
}

}  // namespace heddle::detail
