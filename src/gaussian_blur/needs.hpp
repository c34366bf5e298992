#pragma once

#include "kernels/gaussian_blur/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/device.hpp>

#include <cstdint>
#include <limits>

/// The needs of the blur's kernels. An assertion beside each text checks the numbers in it.
namespace heddle::detail::blur_needs {

using namespace kernels::gaussian_blur;

using need = detail::need<filter_facts>;

inline bool fits_block(std::int64_t shared_bytes, const device_traits& device) {
    return shared_bytes <= static_cast<std::int64_t>(device.shared_memory_per_block_optin);
}

inline constexpr need short_rows{[](auto& p, auto&) { return p.source_width <= max_row_values / p.channels; },
                                 "takes rows of at most 2^29 values"};
static_assert(max_row_values == 1 << 29);

inline constexpr need tables{[](auto& p, auto&) { return p.largest_radius() <= taps::table_radius; },
                             "takes radii up to 1000"};
static_assert(taps::table_radius == 1000);

inline constexpr need few_rows{[](auto& p, auto&) { return p.source_height <= max_counted_rows; },
                               "takes sources of at most 2^29 rows"};
static_assert(max_counted_rows == 1 << 29);

inline constexpr need row_in_block{
    [](auto& p, auto& device) { return fits_block(row_tile::of(p).shared_bytes(p), device); },
    "needs a row's window in the shared memory of a block"};
inline constexpr need column_in_block{
    [](auto& p, auto& device) { return fits_block(column_strips::of(p).shared_bytes(p), device); },
    "needs a column's window in the shared memory of a block"};
inline constexpr need window_in_block{
    [](auto& p, auto& device) { return fits_block(shared_bytes_of_ring(p, device), device); },
    "needs the rows of a window in the shared memory of a block"};

inline constexpr need ring_radius{[](auto& p, auto&) { return p.largest_radius() <= max_ring_radius; },
                                  "takes radii up to 255"};
static_assert(max_ring_radius == 255);

inline constexpr auto shared_memory = needs<short_rows, few_rows, tables, row_in_block, column_in_block>;
inline constexpr auto ring = needs<short_rows, ring_radius, window_in_block>;

inline constexpr need short_radius{[](auto& p, auto&) { return p.largest_radius() <= short_table_radius; },
                                   "takes radii up to 63"};
static_assert(short_table_radius == 63);
inline constexpr need tiles_in_grid{
    [](auto& p, auto&) { return image_tiles::of(p).count(p.images) <= kernels::max_grid_x; },
    "takes fewer than 2^31 tiles"};
inline constexpr need tile_in_block{
    [](auto& p, auto& device) { return fits_block(image_tiles::of(p).shared_bytes(p), device); },
    "needs a tile's windows in the shared memory of a block"};
inline constexpr auto tiled = needs<short_rows, few_rows, short_radius, tiles_in_grid, tile_in_block>;

inline constexpr need strip_radius{
    [](auto& p, auto&) { return p.has_one_radius_up_to(max_register_radius(p.type, p.channels)); },
    "takes one radius for both axes, up to 8, of one channel of float up to 16"};
static_assert(max_register_radius(pixel_type::u8, 1) == 8 && max_register_radius(pixel_type::f32, 1) == 16);
inline constexpr auto strips = needs<strip_radius, short_rows>;

inline constexpr need one_float{[](auto& p, auto&) { return p.type == pixel_type::f32 && p.channels == 1; },
                                "takes one channel of float"};
inline constexpr int min_chain_radius = max_tile_radius(pixel_type::f32, 1) + 1;
inline constexpr need chain_radius{[](auto& p, auto&) {
                                       return p.radius.x >= min_chain_radius &&
                                              p.has_one_radius_up_to(max_register_radius(p.type, p.channels));
                                   },
                                   "takes one radius for both axes, from 6 to 16"};
static_assert(min_chain_radius == 6 && max_register_radius(pixel_type::f32, 1) == 16);
inline constexpr need aligned_rows{
    [](auto& p, auto&) {
        return p.place_alignment() >= packet_bytes && p.destination_alignment >= packet_bytes;
    },
    "needs rows at multiples of 16 bytes, in the source from the region's place on and in the destination"};
inline constexpr auto chains = needs<one_float, chain_radius, aligned_rows, short_rows>;

inline constexpr need tile_radius{[](auto& p, auto&) {
                                      return p.radius.x >= 1 &&
                                             p.has_one_radius_up_to(max_tile_radius(p.type, p.channels));
                                  },
                                  "takes one radius for both axes, from 1 on: up to 5 of float, 3 of half "
                                  "and uint16, 2 of uint8, and up to 12 values along x"};
static_assert(max_tile_radius(pixel_type::f32, 1) == 5 && max_tile_radius(pixel_type::u16, 1) == 3 &&
              max_tile_radius(pixel_type::u8, 1) == 2 && max_tile_radius(pixel_type::f32, 4) == 3);
inline constexpr need tile_packets{
    [](auto& p, auto&) { return p.source_alignment() >= tile_shape::of(p).packet_bytes(p); },
    "needs a source whose rows begin at multiples of 16 bytes, of uint8 8"};

// Needs of the kernels on tensor cores.

inline constexpr need bytes{[](auto& p, auto&) { return p.type == pixel_type::u8; }, "takes uint8"};
inline constexpr need few_strips{
    [](auto& p, auto&) { return p.images <= max_strips / (p.row_values() / min_strip_columns + 1); },
    "takes at most 2^28 strips of 32 values"};
static_assert(max_strips == 1 << 28 && min_strip_columns == 32);
inline constexpr auto tensor_cores = needs<hopper<filter_facts>, bytes, short_rows, few_strips>;

inline constexpr need gaussian{[](auto& p, auto&) { return p.window == window::gaussian; },
                               "takes Gaussians"};
inline constexpr need square_radius{
    [](auto& p, auto&) { return p.largest_radius() <= square_tile::max_radius; }, "takes radii up to 40"};
static_assert(square_tile::max_radius == 40);

inline constexpr need gaussian_or_box{[](auto& p, auto&) { return p.window != window::taps; },
                                      "takes Gaussians and boxes"};
inline constexpr need vectors{[](auto& p, auto&) { return p.in_vectors; },
                              "needs a source whose rows begin at multiples of 16 bytes"};
inline constexpr auto counted_bytes = needs<tensor_cores, gaussian_or_box, few_rows>;

inline constexpr need mirrored{
    [](auto& p, auto&) { return p.border != border::wrap && p.border != border::constant; },
    "takes borders that neither wrap nor are a constant"};
inline constexpr need images_in_grid{[](auto& p, auto&) { return p.images <= kernels::max_grid_y; },
                                     "takes at most 65535 images"};
static_assert(kernels::max_grid_y == 65535);

namespace wide = wgmma_xy;

inline constexpr need wide_radius{
    [](auto& p, auto&) {
        return p.radius.y <= wide::tile::max_radius_y && p.radius.x <= wide::tile::max_radius_x &&
               wide::depths_of(static_cast<int>(2 * p.reach()) + packet_bytes - 1) <=
                   wide::tile::max_depths_x;
    },
    "takes radii up to 16 along y and 32 along x, in windows of 64 columns within 320 values that begin at a "
    "multiple of 16 bytes"};
static_assert(wide::tile::max_radius_y == 16 && wide::tile::max_radius_x == 32 && wide::tile::side == 64 &&
              wide::tile::max_depths_x * wide::tile::depth == 320);
inline constexpr need small_weights{[](auto& p, auto&) {
                                        return p.window == window::box ||
                                               (wide::has_small_weights(p.sigma.x, p.radius.x) &&
                                                wide::has_small_weights(p.sigma.y, p.radius.y));
                                    },
                                    "takes weights up to 5/8, or one alone"};
static_assert(wide::max_weight == 0.625);
inline constexpr need fits_map{[](auto& p, auto&) { return p.source_fits_map; },
                               "takes sources whose rows and images lie less than 2^40 bytes apart"};
static_assert(kernels::end_of_tensor_strides == std::int64_t{1} << 40);
inline constexpr need few_tiles{
    [](auto& p, auto&) { return warpgroup_tiles(p) <= std::numeric_limits<int>::max(); },
    "takes fewer than 2^31 tiles of 256 x 64 values"};
inline constexpr auto wide_windows = needs<counted_bytes, wide_radius, small_weights, fits_map, few_tiles>;
inline constexpr auto warpgroups = needs<wide_windows, vectors>;

inline constexpr need pixel_radius{
    [](auto& p, auto&) {
        return p.largest_radius() <= pixel_tile::max_radius &&
               pixels_before(p) + pixel_tile::side + p.radius.x <= pixel_tile::depth;
    },
    "takes radii up to 8, in windows of 16 columns within 32 pixels that begin at a multiple of 8"};
static_assert(pixel_tile::max_radius == 8 && pixel_tile::side == 16 && pixel_tile::depth == 32 &&
              pixel_tile::octet == 8);

}  // namespace heddle::detail::blur_needs
