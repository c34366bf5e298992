#pragma once

#include <heddle/device.hpp>

#include <array>
#include <cstdint>
#include <string_view>

/// The times of kernels, and the numbers that their plans are made with. Pure.
namespace heddle::kernels::gaussian_blur {

/// The costs of one row of a table of kernels, in microseconds.
struct row_cost {
    std::string_view row;
    double start_us;
    double bytes_per_us;  ///< very large where units are bytes already
    double wait_us = 0;   ///< of a step that waits for the one before
    double unit_us = 0;   ///< of a unit of a multiprocessor's work
};

struct costs {
    std::array<row_cost, 17> rows;

    /// `automatic` takes decimated only if the smaller sigma is at least this.
    double min_sigma_of_decimated = 12;
    /// The cost, in taps, of each pixel by which decimated extends the image.
    double decimated_taps_per_pixel = 8;

    /// The most rows of a strip that a warp marches down. A multiprocessor that runs ahead then gets further blocks.
    std::int64_t max_strip_rows = 256;

    /// How strips are cut for blocks that march down them. If there are rows enough, the blocks make several waves.
    struct marching {
        std::int64_t min_rows = 6;
        std::int64_t max_waves = 4;
        /// Rows that each wave needs, so that those that are filtered only to start are a small part.
        std::int64_t rows_to_share = 64;
        std::int64_t rows_to_share_per_extra = 8;  ///< more for each row that is filtered only to start
    };
    marching march{};

    /// The times of mma_xy, in a unit of its own.
    struct {
        std::int64_t step = 5;          ///< of 16 rows
        std::int64_t filling_step = 2;  ///< of 16 rows that give no result yet
        std::int64_t start = 10;        ///< of a block
        std::int64_t waves_tried = 4;
    } mma_xy{};

    /// The times of wgmma_xy, in a unit of its own. Those of sides and starts count only if tiles are many.
    struct {
        int tile = 8;
        int side_tile = 10;            ///< at an image's side
        int start = 8;                 ///< of a strip
        int many_tiles_per_block = 4;  ///< tiles are many from so many on
    } wgmma_xy{};

    /// decimated reads bands of fewer rows if there would be fewer blocks than this.
    std::int64_t decimated_blocks = 512;
    /// From so many tiles for each multiprocessor on, decimated blurs the samples of a tile with fewer threads. These share
    /// more of what they load.
    std::int64_t decimated_tiles_per_sm = 2;
};

/// The costs of the card.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::gaussian_blur
