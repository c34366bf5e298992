#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// The tiles of tiled. A block takes one after another.
struct image_tiles {
    int columns;      ///< values of a row of the destination
    int rows;         ///< of the destination
    int window_rows;  ///< of the source that are loaded at once
    bool is_folded;   ///< the source has fewer rows than a tile's windows; all of them are loaded
    std::int64_t across;
    std::int64_t down;   ///< of an image
    std::int64_t count;  ///< in all images
};

/// Tiles are as wide as a narrow image, and high if windows are high.
inline image_tiles tiles_of(const filter_facts& p) {
    constexpr std::int64_t max_columns = 64, values = 1024;
    const std::int64_t columns = power_at_least(p.row_values(), max_columns),
                       rows = std::min(std::max(values / columns, p.radius.y), p.height),
                       reached = rows + 2 * p.radius.y;
    const std::int64_t across = divide_up(p.row_values(), columns), down = divide_up(p.height, rows);
    return {.columns = static_cast<int>(columns),
            .rows = static_cast<int>(rows),
            .window_rows = static_cast<int>(std::min(p.source_height, reached)),
            .is_folded = p.source_height < reached,
            .across = across,
            .down = down,
            .count = across * down * p.images};
}

inline std::int64_t shared_bytes_of_tile(const filter_facts& p) {
    const image_tiles tiles = tiles_of(p);
    const std::int64_t window_columns = tiles.columns + 2 * p.reach();
    return 4 * (tiles.window_rows * (window_columns + tiles.columns) + window_columns + tiles.rows +
                2 * p.radius.y);
}

struct tiled_plan {
    kernel_grid grid;
    image_tiles tiles;
    double us;  ///< predicted
};

/// Needs tables of both taps, and shared_bytes_of_tile() of shared memory.
inline tiled_plan plan_tiled(const filter_facts& p, const device_traits& device) {
    constexpr std::int64_t threads = 256, max_blocks_per_sm = 8;
    const image_tiles tiles = tiles_of(p);
    const std::int64_t bytes = shared_bytes_of_tile(p);
    const std::int64_t resident = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(device.shared_memory_per_sm) / (bytes + shared_bytes_reserved), 1,
        max_blocks_per_sm);
    // Counts loads from shared memory. A load from the source costs as much as several of those.
    constexpr double load = 4;
    const auto window_rows = static_cast<double>(tiles.window_rows), rows = static_cast<double>(tiles.rows),
               columns = static_cast<double>(tiles.columns);
    const double loads = load * window_rows * (columns + 2 * static_cast<double>(p.reach())) +
                         columns * (window_rows * static_cast<double>(2 * p.radius.x + 1) +
                                    rows * static_cast<double>(2 * p.radius.y + 1));
    const double steps = loads / static_cast<double>(threads);
    return {.grid = {.blocks = {std::min(tiles.count, max_grid_x)},
                     .threads = block_of_rows(tiles.columns, threads),
                     .shared_bytes = static_cast<std::size_t>(bytes),
                     .shared_limit = device.shared_memory_per_block_optin,
                     .begins_early = waits_for_grids(device)},
            .tiles = tiles,
            .us = predicted_us("tiled", device, marching(p, tiles.count, resident, steps, 1, 1, device))};
}

}  // namespace heddle::kernels::gaussian_blur
