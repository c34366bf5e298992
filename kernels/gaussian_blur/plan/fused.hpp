#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// A block's shared memory in its order: a barrier, the ring, the rows of a round, and taps that are not compiled in. Last
/// come the columns that stand for those outside of the image.
struct ring_layout {
    int strip;        ///< values of a row of the destination
    int halo;         ///< values on both sides of them, in whole copies of 16 bytes
    int lead;         ///< rows that are filtered before the first output
    int ring_rows;    ///< a multiple of the outputs of a thread, so that a group of rows never wraps
    int ring_pitch;   ///< floats
    int stage_pitch;  ///< values
    int taps_x;       ///< floats
    int taps_y;
    std::int64_t bytes;
};

struct fused_ring_plan {
    kernel_grid grid;
    ring_layout layout;
    bool is_compiled;  ///< for the radius
    unsigned strips;
    gaussian_blur::march march;
    bool aligned_loads;
    bool aligned_stores;
    double us;  ///< predicted
};

/// The largest radius of windows that tiles take. It is the same for both axes.
constexpr int max_tile_radius(pixel_type type, std::int64_t channels) {
    constexpr int max_halo = 12;  // values of a row on each side of a tile
    const int most = type == pixel_type::f32 ? 5 : type == pixel_type::u8 ? 2 : 3;
    return std::min(most, max_halo / static_cast<int>(channels));
}

/// The part of an image that a warp of fused_tiles blurs: some rows of the columns that its lanes own. Lanes at both sides
/// have no results, and only lend their values.
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

    static tile_shape of(const filter_facts& p) { return {p.value_bytes(), static_cast<int>(p.reach())}; }
    int packet_bytes(const filter_facts& p) const { return values * p.value_bytes(); }
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
    int shift;            ///< values by which windows begin early, so that packets are aligned in the source
    bool stores_packets;  ///< the destination's rows are whole packets, at multiples of their size
    double us;            ///< predicted
};

/// Needs one radius from 1 to max_tile_radius(), and rows of the source that start at multiples of packets.
inline fused_tiles_plan plan_fused_tiles(const filter_facts& p, const device_traits& device) {
    const tile_shape shape = tile_shape::of(p);
    const auto shift = static_cast<int>(p.x * p.channels % shape.values);
    const tile_grid tiles(shape, p.row_values() + shift, p.height);
    const double rows = tile_shape::rows + 2 * static_cast<double>(p.radius.y);
    return {
        .grid = {.blocks = {tiles.strips * tiles.segments},
                 .threads = {std::int64_t{tile_shape::lanes} * tile_shape::warps},
                 .begins_early = waits_for_grids(device)},
        .tiles = tiles,
        .shift = shift,
        .stores_packets = shift == 0 && p.row_values() % shape.values == 0 &&
                          p.destination_alignment >= shape.packet_bytes(p),
        .us = predicted_us("fused tiles", device,
                           marching(p, tiles.strips * tiles.segments * p.images, tile_shape::blocks_per_sm,
                                    rows, 1, shape.values * (both_radii(p) + 1), device))};
}

/// The largest radius of windows whose sums fit the registers. It is the same for both axes.
constexpr int max_register_radius(pixel_type type, std::int64_t channels) {
    return type == pixel_type::f32 && channels == 1 ? 16 : 8;
}

/// Strips are compiled for radii that are multiples of this.
inline constexpr int strip_radius_step = 2;

/// The strip that a warp of fused_strips marches down. It has as many columns as the warp's lanes own.
struct strip_shape {
    static constexpr int lanes = 32;
    static constexpr int warps = 4;  ///< of a block, at most: narrow images take fewer

    /// Neighbours that a thread owns, a packet: 16 bytes. For uint8 they are 8 where sums of more would not fit the registers,
    /// and for one and two channels, where 8 are faster.
    int values;
    int words;
    int halo;
    int lead;     ///< values of a window before a thread's own
    int packets;  ///< of a window

    /// Where rows are not aligned, a packet of small values is put together from words of memory, which reach beyond it on both
    /// sides. No word may reach beyond the row. So the first packet, the head, is fetched singly, and so is a last one with
    /// fewer than `slack` values behind it.
    bool shifts;
    int slack;
    int head;
    /// Values of a row that a lane fetches singly: its share of the halos, the head and what the last packet leaves.
    int singles;

    int rows;  ///< that are fetched and staged at a time
    int staged_bytes;
    int blocks_per_sm;

    /// `radius` is one that is compiled.
    constexpr strip_shape(int size, int channels, int radius)
        : values(size > 1 || (channels >= 3 && radius <= 3) ? packet_bytes / size : 8),
          words(values * size / 4),
          halo(radius * channels),
          lead(round_up(halo, values)),
          packets(1 + 2 * lead / values),
          shifts(size < 4),
          slack(shifts ? 4 / size - 1 : 0),
          head(shifts ? values : 0),
          singles((lead + head + values - 1 + slack + halo + lanes - 1) / lanes),
          rows(size > 1      ? 7 - singles
               : values == 8 ? 4
                             : 3),
          staged_bytes(warps * rows * (lanes * values + 2 * lead) * size),
          blocks_per_sm(blocks_of(size, radius)) {}

  private:
    constexpr int blocks_of(int size, int radius) const {
        // Registers of a thread: sums, a row's results, the rows under way, and what the compiler needs besides.
        const int registers = 2 * radius * values + values + rows * (words + singles) + 52;
        // Few blocks of float keep DRAM busy: more would only filter more rows to start.
        const int most = size == 4 ? 3 : 6;
        return std::clamp(65536 / (lanes * warps) / round_up(registers, 8), 2, most);
    }
};

struct fused_strips_plan {
    kernel_grid grid;
    bool aligned;  ///< packets of source and destination start at multiples of their size
    unsigned strips;
    gaussian_blur::march march;
    double us;  ///< predicted
};

/// Needs one radius up to max_register_radius().
inline fused_strips_plan plan_fused_strips(const filter_facts& p, const device_traits& device) {
    const int radius = compiled_radius(p.radius.x, strip_radius_step);
    const strip_shape shape(p.value_bytes(), static_cast<int>(p.channels), radius);
    const int packet = shape.values * p.value_bytes();
    const bool aligned = p.place_alignment() >= packet && p.destination_alignment >= packet;

    // Strips of equal width.
    const std::int64_t row_warps = divide_up(p.row_values(), std::int64_t{strip_shape::lanes} * shape.values);
    const std::int64_t warps = divide_up(row_warps, divide_up(row_warps, strip_shape::warps));
    const std::int64_t strips = divide_up(row_warps, warps);
    const std::int64_t fit =
        static_cast<std::int64_t>(device.shared_memory_per_sm) / (shape.staged_bytes + shared_bytes_reserved);
    const std::int64_t blocks_per_sm =
        std::clamp<std::int64_t>(fit, 1, std::int64_t{shape.blocks_per_sm} * strip_shape::warps / warps);
    const gaussian_blur::march down =
        plan_march(p.height, strips, p.images, device.sm_count * blocks_per_sm,
                   static_cast<int>(2 * p.radius.x), shape.rows, costs_of(device).march);
    const auto rows = static_cast<double>(down.rows_per_block + 2 * p.radius.y),
               bytes_of_row =
                   static_cast<double>(strip_shape::lanes * warps * shape.values * p.value_bytes());
    const cost_place row = p.value_bytes() == 4   ? cost_place("fused strips of float")
                           : p.value_bytes() == 1 ? cost_place("fused strips of bytes")
                           : aligned              ? cost_place("fused strips")
                                                  : cost_place("fused strips unaligned");
    return {.grid = {.blocks = {strips * down.segments},
                     .threads = {strip_shape::lanes * warps},
                     .shared_bytes = static_cast<std::size_t>(std::max<std::int64_t>(
                         shared_bytes_of_one_of(blocks_per_sm, device) - shape.staged_bytes, 0)),
                     .shared_limit = static_cast<std::size_t>(shared_bytes_of_one_of(1, device)),
                     .begins_early = waits_for_grids(device)},
            .aligned = aligned,
            .strips = static_cast<unsigned>(strips),
            .march = down,
            .us = predicted_us(row, device,
                               marching(p, strips * down.segments * p.images, blocks_per_sm, rows,
                                        shape.values * (2 * radius + shape.packets), bytes_of_row, device))};
}

}  // namespace heddle::kernels::gaussian_blur
