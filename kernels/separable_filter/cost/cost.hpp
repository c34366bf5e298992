#pragma once

#include <heddle/device.hpp>

#include <array>
#include <cstdint>
#include <string_view>

/// What kernels take, and the numbers that their plans go by. Pure.
namespace heddle::kernels::separable_filter {

/// In microseconds.
struct row_cost {
    std::string_view row;
    double start_us;
    double bytes_per_us;  ///< very large where units are bytes already
    double wait_us = 0;   ///< of a wave of blocks
    double unit_us = 0;   ///< of a multiprocessor's work
};

struct costs {
    std::array<row_cost, 19> rows;

    /// The smaller sigma from which on `automatic` may take decimated.
    double min_sigma_of_decimated = 12;
    /// In taps: what decimated takes for a pixel that the image is extended by.
    double decimated_taps_per_pixel = 8;

    /// A strip that a warp marches down has no more, so that a multiprocessor that is ahead gets further blocks.
    std::int64_t max_strip_rows = 256;

    /// Blocks that march down strips come in several waves where strips have rows enough for that.
    struct marching {
        std::int64_t min_rows = 6;
        std::int64_t max_waves = 4;
        /// Beside so many rows, those that are filtered only to start are a small part.
        std::int64_t rows_to_share = 64;
        std::int64_t rows_to_share_per_extra = 8;
    };
    marching march{};

    /// What mma_xy takes for a step of 16 rows, for one that has no result yet, and to start a block.
    struct {
        std::int64_t step = 5;
        std::int64_t filling_step = 2;
        std::int64_t start = 10;
        std::int64_t waves_tried = 4;
    } mma_xy{};

    /// What wgmma_xy takes for a tile, for one at an image's side, and to begin a strip; these two where tiles
    /// are many: so many for each block.
    struct {
        int tile = 8;
        int side_tile = 10;
        int start = 8;
        int many_tiles_per_block = 4;
    } wgmma_xy{};

    /// decimated reads bands of fewer rows where they would make fewer blocks than this.
    std::int64_t decimated_blocks = 512;
    /// Tiles for each multiprocessor from which on its samples are blurred by fewer threads a tile, which share more of what
    /// they load.
    std::int64_t decimated_tiles_per_sm = 2;
};

/// The card's.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::separable_filter
