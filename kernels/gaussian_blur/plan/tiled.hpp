#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// The tiles of tiled. A block takes one.
struct image_tiles {
    static constexpr int threads = 256;  ///< of a block
    static constexpr int outputs = 4;    ///< neighbours that a thread sums up: pixels along x, rows along y

    int pixels;  ///< of a row of the destination, a multiple of `outputs`
    int rows;    ///< of the destination, a multiple of `outputs`
    int slots;   ///< rows that are loaded and filtered along x
    bool
        is_low;  ///< the source has fewer rows than a tile's windows: a slot for each of them, and one for the border
    int across;
    int down;  ///< of an image

    /// Tiles are as wide as a narrow image, and high if windows are high.
    static image_tiles of(const filter_facts& p) {
        constexpr std::int64_t values = 1024;
        const std::int64_t most_pixels = p.channels == 1 ? 64 : p.channels == 2 ? 32 : 16;
        const std::int64_t pixels = std::max<std::int64_t>(power_at_least(p.width, most_pixels), outputs);
        const std::int64_t wanted = std::max(values / (pixels * p.channels), p.radius.y);
        const std::int64_t rows = round_up(std::min(wanted, p.height), outputs),
                           window_rows = rows + 2 * p.radius.y;
        const std::int64_t across = divide_up(p.width, pixels), down = divide_up(p.height, rows);
        const bool is_low = p.source_height < window_rows;
        return {.pixels = static_cast<int>(pixels),
                .rows = static_cast<int>(rows),
                .slots = static_cast<int>(is_low ? p.source_height + 1 : window_rows),
                .is_low = is_low,
                .across = static_cast<int>(across),
                .down = static_cast<int>(down)};
    }

    std::int64_t count(std::int64_t images) const { return std::int64_t{across} * down * images; }
    /// Values of a loaded row, with those that convolve() loads but does not use. Odd, so that neighbouring rows lie in
    /// different banks.
    __host__ __device__ int loaded_pitch(int radius, int channels) const {
        return (pixels + round_up(2 * radius + 1, 4)) * channels | 1;
    }
    __host__ __device__ int filtered_pitch(int channels) const { return pixels * channels | 1; }
    /// Rows of a tile's windows, with those that convolve() loads but does not use.
    __host__ __device__ int window_rows(int radius) const { return rows + round_up(2 * radius + 1, 4); }
    /// Taps of both axes, the slots of window rows, loaded rows, filtered rows, places of columns, pointers to rows.
    std::int64_t shared_bytes(const filter_facts& p) const {
        const auto x = static_cast<int>(p.radius.x), y = static_cast<int>(p.radius.y),
                   channels = static_cast<int>(p.channels);
        const std::int64_t rows_loaded = slots,
                           words = round_up(2 * x + 1, 4) + round_up(2 * y + 1, 4) + window_rows(y) +
                                   rows_loaded * (loaded_pitch(x, channels) + filtered_pitch(channels)) +
                                   std::int64_t{pixels + 2 * x} * channels;
        return 4 * words + 8 * rows_loaded + 8;
    }
};

struct tiled_plan {
    kernel_grid grid;
    image_tiles tiles;
    double us;  ///< predicted
};

/// Needs radii up to short_table_radius, rows and columns counted in 32 bits, fewer than 2^31 tiles, and
/// image_tiles::shared_bytes() of shared memory.
inline tiled_plan plan_tiled(const filter_facts& p, const device_traits& device) {
    constexpr std::int64_t max_blocks_per_sm = 6;
    const image_tiles tiles = image_tiles::of(p);
    const std::int64_t bytes = tiles.shared_bytes(p);
    const std::int64_t resident = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(device.shared_memory_per_sm) / (bytes + shared_bytes_reserved), 1,
        max_blocks_per_sm);
    // A block's turns: loads of a batch, and groups of four taps for four outputs.
    const auto turns = [](std::int64_t tasks) {
        return static_cast<double>(divide_up(tasks, image_tiles::threads));
    };
    const std::int64_t values = tiles.pixels * p.channels;
    const double steps =
        turns(tiles.slots * (tiles.pixels + 2 * p.radius.x) * p.channels) +
        turns(tiles.slots * values / image_tiles::outputs) * static_cast<double>(p.radius.x + 2) +
        turns(tiles.rows * values / image_tiles::outputs) * static_cast<double>(p.radius.y + 2);
    return {.grid = {.blocks = {tiles.count(p.images)},
                     .threads = {image_tiles::threads},
                     .shared_bytes = static_cast<std::size_t>(bytes),
                     .shared_limit = device.shared_memory_per_block_optin,
                     .begins_early = waits_for_grids(device)},
            .tiles = tiles,
            .us = predicted_us("tiled", device,
                               marching(p, tiles.count(p.images), resident, steps, 1, 1, device))};
}

}  // namespace heddle::kernels::gaussian_blur
