#pragma once

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

/// The narrowest strip that a rung of bytes has on the tensor cores.
inline constexpr std::int64_t min_strip_columns = 32;
/// The most strips of all images that a grid counts, with a few blocks for each.
inline constexpr std::int64_t max_strips = std::int64_t{1} << 28;

/// The squares of values that a warp of mma_xy works on.
struct square_tile {
    static constexpr int side = 16;    ///< of the square of values that the products work on
    static constexpr int squares = 2;  ///< of a warp, side by side
    static constexpr int warp_columns = squares * side;
    static constexpr int chunk = 8;    ///< bytes that a thread copies at once
    static constexpr int stages = 4;   ///< of `side` rows each
    static constexpr int loaders = 2;  ///< warps that load
    static constexpr int max_radius = 40;
    /// A window has max_radius pixels of 4 channels on both sides, and up to chunk - 1 values for alignment.
    static constexpr int max_blocks_x = 22;
    static constexpr int max_blocks_y = 6;
    static_assert(max_blocks_x * side >= side + 2 * max_radius * 4 + chunk - 1);
    static_assert(max_blocks_y * side >= side + 2 * max_radius);
    static_assert(warp_columns >= min_strip_columns);
};

/// The shape of blocks whose warps keep a ring of `blocks` blocks of 16 rows in registers.
struct ring_of_squares {
    int warps;
    int blocks_per_sm;
    int threads;
    int columns;  ///< values of a strip

    __host__ __device__ constexpr explicit ring_of_squares(int blocks)
        : warps(blocks == 2   ? 8
                : blocks == 3 ? 6
                              : 10),
          blocks_per_sm(blocks <= 3 ? 2 : 1),
          threads(32 * (warps + square_tile::loaders)),
          columns(warps * square_tile::warp_columns) {}
};

/// The weights of one axis as whole numbers 256 * high + low, whose sum is `sum`. Zeros lie around them. Element 16 + i - j
/// is the weight of the window's value i in the square's value j. The window has 16 * blocks values and starts `lead`
/// before the square.
template <int max_blocks>
struct square_band {
    static constexpr int size = (max_blocks + 1) * square_tile::side;

    alignas(4) std::uint8_t high[size] = {};
    alignas(4) std::uint8_t low[size] = {};
    int blocks;
    int lead;
    int sum = 0;
};
using square_band_x = square_band<square_tile::max_blocks_x>;
using square_band_y = square_band<square_tile::max_blocks_y>;

/// Dynamic shared memory: barriers, the fragments along y and along x, and what lies behind those.
struct square_layout {
    int fragments_y;
    int fragments_x;
    int stages;
    int pitch;
    int bands;
    int columns;
    int bytes;
};
__host__ __device__ constexpr square_layout lay_out_squares(int blocks_x, int blocks_y, int strip_columns) {
    constexpr int fragment_bytes = 8, barrier_bytes = 8;
    constexpr int block_bytes = 2 * 32 * fragment_bytes;
    square_layout l{};
    // An odd multiple of 16 bytes, so that eight rows of a matrix lie in different banks.
    l.pitch = square_tile::side * ((strip_columns / square_tile::side + blocks_x) | 1);
    l.fragments_y = 2 * square_tile::stages * barrier_bytes;
    l.fragments_x = l.fragments_y + blocks_y * block_bytes;
    l.stages = l.fragments_x + blocks_x * block_bytes;
    l.bands = l.stages + square_tile::stages * square_tile::side * l.pitch;
    l.columns = l.bands + static_cast<int>(sizeof(square_band_x) + sizeof(square_band_y));
    l.bytes = l.columns + 4 * l.pitch;
    return l;
}

struct mma_xy_plan {
    kernel_grid grid;
    int lead;  ///< values of a window before a warp's first column: it starts at a multiple of a chunk in memory
    int blocks_x;  ///< of 16 values or rows, that a window takes
    int blocks_y;
    int strips;
    int segments;
    int tiles;  ///< squares that a block does, one below the other
    /// Rows of the source lie multiples of 4 bytes apart, and rows of the destination begin at multiples of 4 bytes.
    bool in_words;
    int source_alignment;
    int destination_alignment;
    double us;  ///< predicted
};

/// The blocks of a square's window, which has `halo` values besides the square's own.
constexpr int blocks_of_squares(int halo) {
    return std::max(2, (square_tile::side + halo + square_tile::side - 1) / square_tile::side);
}

/// Needs bytes, and radii up to square_tile::max_radius.
inline mma_xy_plan plan_mma_xy(const filter_facts& p, const device_traits& device) {
    const auto reach = static_cast<int>(p.reach());
    // The values from the start of a chunk to the window's first.
    const auto beyond =
        static_cast<int>(static_cast<std::uint64_t>(p.place_offset() - reach) % square_tile::chunk);
    const int lead = reach + beyond;
    const int needed_y = blocks_of_squares(static_cast<int>(2 * p.radius.y));
    const int blocks_x = blocks_of_squares(lead + reach);
    const int blocks_y = needed_y == 5 ? 6 : needed_y;  // 5 is not compiled
    const ring_of_squares ring(blocks_y);

    const std::int64_t strips = divide_up(p.row_values(), ring.columns);
    const std::int64_t rows = divide_up(p.height, square_tile::side);
    const std::int64_t resident = std::int64_t{device.sm_count} * ring.blocks_per_sm;
    const std::int64_t columns = strips * p.images;
    // A block marches down as many squares as cost least. A few numbers of waves are tried.
    const auto& costs = costs_of(device).mma_xy;
    const std::int64_t fewest = divide_up(columns, resident);
    std::int64_t tiles = rows, least = INT64_MAX;
    for (std::int64_t waves = fewest; waves < fewest + costs.waves_tried; ++waves) {
        const std::int64_t steps = divide_up(rows, waves * resident / columns);
        const std::int64_t cost =
            waves * (costs.step * steps + costs.filling_step * (blocks_y - 1) + costs.start);
        if (cost < least) {
            least = cost;
            tiles = steps;
        }
    }
    const std::int64_t segments = divide_up(rows, tiles);
    return {.grid = {.blocks = {columns * segments},
                     .threads = {ring.threads},
                     .shared_bytes =
                         static_cast<std::size_t>(lay_out_squares(blocks_x, blocks_y, ring.columns).bytes),
                     .shared_limit = device.shared_memory_per_block_optin},
            .lead = lead,
            .blocks_x = blocks_x,
            .blocks_y = blocks_y,
            .strips = static_cast<int>(strips),
            .segments = static_cast<int>(segments),
            .tiles = static_cast<int>(tiles),
            .in_words = p.in_words,
            .source_alignment = std::min(square_tile::chunk, p.source_steps),
            .destination_alignment = std::min(square_tile::chunk, p.destination_alignment),
            .us = predicted_us(
                "mma_xy", device,
                marching(p, columns * segments, ring.blocks_per_sm, static_cast<double>(tiles + blocks_y), 1,
                         ring.warps * (blocks_x + blocks_y), device))};
}

}  // namespace heddle::kernels::gaussian_blur
