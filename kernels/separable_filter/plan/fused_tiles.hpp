#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/kernel_grid.hpp"
#include "kernels/separable_filter/plan/problem.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::separable_filter {

/// The largest radius of windows that tiles take. It is the same for both axes.
constexpr int max_tile_radius(pixel_type type, std::int64_t channels) {
    constexpr int max_halo = 12;  // values of a row beside a tile
    const int most = type == pixel_type::f32 ? 5 : type == pixel_type::u8 ? 2 : 3;
    return std::min(most, max_halo / static_cast<int>(channels));
}

/// What a warp of fused_tiles blurs: some rows of as many columns as its lanes own, but for those at both sides, which
/// only lend theirs.
struct tile_shape {
    static constexpr int lanes = 32;
    static constexpr int rows = 8;
    static constexpr int warps = 4;  ///< of a block, one below the other, so that L1 has the rows they share
    static constexpr int blocks_per_sm = 4;  ///< so that a thread has 128 registers

    int values;         ///< neighbours that a lane owns, a packet
    int lending_lanes;  ///< at each side

    constexpr tile_shape(int value_bytes, int halo)
        : values(value_bytes == 4 ? 4 : 8), lending_lanes(round_up(halo, values) / values) {}
    constexpr int lead() const { return lending_lanes * values; }
    constexpr int window() const { return lanes * values; }
    constexpr int columns() const { return window() - 2 * lead(); }

    static tile_shape of(const problem& p) { return {p.value_bytes(), static_cast<int>(p.reach())}; }
    int packet_bytes(const problem& p) const { return values * p.value_bytes(); }
};

/// The grid, one row of tiles after another.
struct tile_grid {
    std::int64_t strips;
    std::int64_t segments;  ///< blocks below each other

    constexpr tile_grid(const tile_shape& shape, std::int64_t row_values, std::int64_t height)
        : strips((row_values - 1) / shape.columns() + 1),
          segments((height - 1) / (std::int64_t{tile_shape::rows} * tile_shape::warps) + 1) {}
};

struct fused_tiles_plan {
    kernel_grid grid;
    tile_grid tiles;
    int shift;  ///< values that a window begins before its place, so that its packets are aligned in the source
    bool stores_packets;  ///< rows of the destination are whole ones, at multiples of their size
};

/// Needs one radius up to max_tile_radius(), and rows of the source at multiples of packets.
inline fused_tiles_plan plan_fused_tiles(const problem& p, const device_traits& device) {
    const tile_shape shape = tile_shape::of(p);
    const auto shift = static_cast<int>(p.x * p.channels % shape.values);
    const tile_grid tiles(shape, p.row_values() + shift, p.height);
    return {.grid = {.blocks = {tiles.strips * tiles.segments},
                     .threads = {std::int64_t{tile_shape::lanes} * tile_shape::warps},
                     .begins_early = waits_for_grids(device)},
            .tiles = tiles,
            .shift = shift,
            .stores_packets = shift == 0 && p.row_values() % shape.values == 0 &&
                              p.destination_alignment >= shape.packet_bytes(p)};
}

/// Whether the device holds all blocks at once that fused_tiles needs for this problem.
inline bool is_one_wave_of_tiles(const problem& p, const device_traits& device) {
    const std::int64_t most = std::int64_t{tile_shape::blocks_per_sm} * device.sm_count;
    if (!p.has_one_radius_up_to(max_tile_radius(p.type, p.channels))) return false;
    if (p.width > max_row_values / p.channels || p.images > most) return false;
    const tile_grid tiles(tile_shape::of(p), p.row_values(), p.height);
    return tiles.segments <= most && tiles.strips * tiles.segments * p.images <= most;
}

}  // namespace heddle::kernels::separable_filter
