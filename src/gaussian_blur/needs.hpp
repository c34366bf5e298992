#pragma once

#include "kernels/gaussian_blur/launch.hpp"
#include <heddle/device.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

/// What the kernels of the blur need and lack, as an error says it after their names; empty where they can run.
namespace heddle::detail {

using kernels::gaussian_blur::problem;

inline std::string_view needs_short_rows(const problem& p) {
    using kernels::gaussian_blur::max_row_values;
    static_assert(max_row_values == 1 << 29);
    return p.source_width <= max_row_values / p.channels ? "" : "takes rows of at most 2^29 values";
}

inline std::string_view needs_tables(const problem& p, const device_traits&) {
    constexpr int most = kernels::gaussian_blur::taps::table_radius;
    static_assert(most == 1000);
    return p.largest_radius() <= most ? "" : "takes radii up to 1000";
}

inline bool fits_block(std::int64_t shared_bytes, const device_traits& device) {
    return shared_bytes <= static_cast<std::int64_t>(device.shared_memory_per_block_optin);
}

inline std::string_view needs_shared_rows(const problem& p, const device_traits& device) {
    if (const auto reason = needs_short_rows(p); !reason.empty()) return reason;
    if (const auto reason = needs_tables(p, device); !reason.empty()) return reason;
    return fits_block(kernels::gaussian_blur::shared_bytes_along_x(p), device)
               ? ""
               : "needs a row's window in the shared memory of a block";
}

inline std::string_view needs_shared_memory(const problem& p, const device_traits& device) {
    if (const auto reason = needs_shared_rows(p, device); !reason.empty()) return reason;
    return fits_block(kernels::gaussian_blur::shared_bytes_along_y(p), device)
               ? ""
               : "needs a column's window in the shared memory of a block";
}

inline std::string_view needs_register_window(const problem& p, const device_traits& device) {
    constexpr int most = kernels::gaussian_blur::max_window_radius;
    static_assert(most == 16);
    if (p.radius.y > most) return "takes radii up to 16 along y";
    return needs_shared_rows(p, device);
}

inline std::string_view needs_ring(const problem& p, const device_traits& device) {
    constexpr int most = kernels::gaussian_blur::max_ring_radius;
    static_assert(most == 255);
    if (const auto reason = needs_short_rows(p); !reason.empty()) return reason;
    if (p.largest_radius() > most) return "takes radii up to 255";
    return fits_block(kernels::gaussian_blur::shared_bytes_of_ring(p, device), device)
               ? ""
               : "needs the rows of a window in the shared memory of a block";
}

inline std::string_view needs_strips(const problem& p, const device_traits&) {
    using kernels::gaussian_blur::max_register_radius;
    static_assert(max_register_radius(pixel_type::u8, 1) == 8 &&
                  max_register_radius(pixel_type::f32, 1) == 16);
    if (!p.has_one_radius_up_to(max_register_radius(p.type, p.channels)))
        return "takes one radius for both axes, up to 8, of one channel of float up to 16";
    return needs_short_rows(p);
}

inline std::string_view needs_chains(const problem& p, const device_traits&) {
    using namespace kernels::gaussian_blur;
    constexpr std::int64_t least = max_tile_radius(pixel_type::f32, 1) + 1;
    constexpr std::int64_t most = max_register_radius(pixel_type::f32, 1);
    static_assert(least == 6 && most == 16);
    if (p.type != pixel_type::f32 || p.channels != 1) return "takes one channel of float";
    if (!p.has_one_radius_up_to(most) || p.radius.x < least)
        return "takes one radius for both axes, from 6 to 16";
    if (p.place_alignment() < packet_bytes || p.destination_alignment < packet_bytes)
        return "needs rows at multiples of 16 bytes, in the source from the region's place on and in the "
               "destination";
    return needs_short_rows(p);
}

inline std::string_view needs_tiles(const problem& p, const device_traits&) {
    using namespace kernels::gaussian_blur;
    static_assert(max_tile_radius(pixel_type::f32, 1) == 5 && max_tile_radius(pixel_type::u16, 1) == 3 &&
                  max_tile_radius(pixel_type::u8, 1) == 2 && max_tile_radius(pixel_type::f32, 4) == 3);
    if (!p.has_one_radius_up_to(max_tile_radius(p.type, p.channels)))
        return "takes one radius for both axes, up to 12 values and 5 of float, 3 of half and uint16, 2 of "
               "uint8";
    if (p.source_alignment() < tile_shape::of(p).packet_bytes(p))
        return "needs a source whose rows begin at multiples of 16 bytes, of uint8 8";
    return needs_short_rows(p);
}

/// What all kernels of bytes need.
inline std::string_view needs_tensor_cores(const problem& p, const device_traits& device) {
    using namespace kernels::gaussian_blur;
    static_assert(max_strips == 1 << 28 && min_strip_columns == 32);
    if (HEDDLE_COMPILED_FOR_90 == 0) return "needs a build for compute capability 9.0";
    if (device.compute_capability_major != 9 || device.compute_capability_minor != 0)
        return "needs compute capability 9.0";
    if (p.type != pixel_type::u8) return "takes uint8";
    if (const auto reason = needs_short_rows(p); !reason.empty()) return reason;
    if (p.images > max_strips / (p.row_values() / min_strip_columns + 1))
        return "takes fewer than 2^28 strips of 32 values";
    return {};
}

inline std::string_view needs_tensor_core(const problem& p, const device_traits& device) {
    constexpr int most = kernels::gaussian_blur::square_tile::max_radius;
    static_assert(most == 40);
    if (const auto reason = needs_tensor_cores(p, device); !reason.empty()) return reason;
    if (p.kind != kernels::gaussian_blur::taps_kind::gaussian) return "takes Gaussians";
    return p.largest_radius() <= most ? "" : "takes radii up to 40";
}

/// And those that copy aligned rows.
inline std::string_view needs_aligned_bytes(const problem& p, const device_traits& device) {
    using namespace kernels::gaussian_blur;
    static_assert(max_tensor_core_rows == 1 << 29);
    if (const auto reason = needs_tensor_cores(p, device); !reason.empty()) return reason;
    if (p.kind == taps_kind::any) return "takes Gaussians and boxes";
    if (!p.in_vectors) return "needs a source whose rows begin at multiples of 16 bytes";
    return p.source_height <= max_tensor_core_rows ? "" : "takes sources of at most 2^29 rows";
}

inline bool is_mirrored(border kind) {
    return kind != border::wrap && kind != border::constant;
}

inline std::string_view needs_registers(const problem& p, const device_traits& device) {
    using namespace kernels::gaussian_blur;
    static_assert(max_registers_radius == 8 && max_registers_reach == 24);
    if (const auto reason = needs_aligned_bytes(p, device); !reason.empty()) return reason;
    if (p.radius.y > max_registers_radius || p.reach() > max_registers_reach)
        return "takes radii up to 8 along y, and up to 24 values along x";
    if (!is_mirrored(p.border)) return "takes borders that neither wrap nor are a constant";
    const std::int64_t most_rows =
        kernels::max_grid_y * stack_tile::strips * stack_tile::min_strip_rows(p.radius.y);
    return p.images <= kernels::max_grid_y && p.height <= most_rows
               ? ""
               : "takes no more images, and rows of them, than a grid counts";
}

inline std::string_view needs_spans(const problem& p, const device_traits& device) {
    using namespace kernels::gaussian_blur;
    static_assert(span_tile::depth == 32 && span_tile::product_columns == 16 && span_stage::word == 4);
    if (const auto reason = needs_registers(p, device); !reason.empty()) return reason;
    return values_before_span(p) + span_tile::product_columns + p.reach() <= span_tile::depth
               ? ""
               : "takes windows of 16 columns within 32 values that begin at a multiple of 4 bytes";
}

inline std::string_view needs_warpgroups(const problem& p, const device_traits& device) {
    using namespace kernels::gaussian_blur;
    namespace wide = tensor_core_warpgroups;
    static_assert(wide::tile::max_radius_y == 16 && wide::tile::max_radius_x == 32 &&
                  wide::tile::max_depths_x * wide::tile::depth == 320 && wide::tile::side == 64);
    static_assert(wide::max_weight == 0.625 && end_of_map_strides == std::int64_t{1} << 40);
    if (const auto reason = needs_aligned_bytes(p, device); !reason.empty()) return reason;
    if (p.radius.y > wide::tile::max_radius_y || p.radius.x > wide::tile::max_radius_x ||
        wide::depths_of(static_cast<int>(2 * p.reach()) + packet_bytes - 1) > wide::tile::max_depths_x)
        return "takes radii up to 16 along y and 32 along x, in windows of 64 columns within 320 values that "
               "begin at a "
               "multiple of 16 bytes";
    if (!wide::has_small_weights(p.sigma.x, p.radius.x) || !wide::has_small_weights(p.sigma.y, p.radius.y))
        return "takes weights up to 5/8, or one alone";
    if (!p.source_fits_map) return "takes sources whose rows and images lie less than 2^40 bytes apart";
    return warpgroup_tiles(p) <= std::numeric_limits<int>::max()
               ? ""
               : "takes fewer than 2^31 tiles of 256 x 64 values";
}

inline std::string_view needs_warps(const problem& p, const device_traits& device) {
    using namespace kernels::gaussian_blur;
    static_assert(pixel_tile::max_radius == 8 && pixel_tile::side == 16 && pixel_tile::depth == 32 &&
                  pixel_tile::octet == 8 && kernels::max_grid_y == 65535);
    if (const auto reason = needs_warpgroups(p, device); !reason.empty()) return reason;
    if (p.kind != taps_kind::gaussian) return "takes Gaussians";
    if (p.largest_radius() > pixel_tile::max_radius ||
        pixels_before(p) + pixel_tile::side + p.radius.x > pixel_tile::depth)
        return "takes radii up to 8, in windows of 16 columns within 32 pixels that begin at a multiple of 8";
    if (!is_mirrored(p.border)) return "takes borders that neither wrap nor are a constant";
    return p.images <= kernels::max_grid_y ? "" : "takes at most 65535 images";
}

}  // namespace heddle::detail
