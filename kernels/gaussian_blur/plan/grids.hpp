#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// A launch of a kernel, all but its stream.
struct kernel_grid {
    launch_extents
        blocks;  ///< of one image, where a launch takes as many as there is room for (launch_batch)
    launch_extents threads;
    std::size_t shared_bytes = 0;
    std::size_t shared_limit = 0;
    bool begins_early = false;
};

/// A block of so many threads, a power of two: as wide as a row where that is narrow, and then several rows high.
inline launch_extents block_of_rows(std::int64_t row_values, std::int64_t threads) {
    const std::int64_t width = power_at_least(row_values, threads);
    return {width, threads / width};
}

/// Blocks that march down strips of images: how far each goes.
struct march {
    int rows_per_block;
    unsigned segments;   ///< blocks of a strip
    std::int64_t waves;  ///< of all blocks over the device, the last one whole or not
};

/// A block takes `round` rows at a time, and filters `extra` rows only to start. So its rows fill whole rounds with these,
/// and are no fewer than `extra`. Within that, small images get one wave of blocks over the whole device. Large ones get
/// several, so that an SM that runs ahead takes more blocks.
inline march plan_march(std::int64_t height, std::int64_t strips, std::int64_t images,
                        std::int64_t resident_blocks, int extra, int round, const costs::marching& numbers) {
    constexpr std::int64_t max_rows = std::int64_t{1} << 29;
    const std::int64_t rows_to_share = numbers.rows_to_share + numbers.rows_to_share_per_extra * extra;

    const std::int64_t segments = std::max<std::int64_t>(1, resident_blocks / (strips * images));
    const std::int64_t rows_of_one_wave = (height + segments - 1) / segments;
    const std::int64_t waves =
        std::clamp<std::int64_t>(rows_of_one_wave / rows_to_share, 1, numbers.max_waves);
    const std::int64_t wanted = std::clamp((rows_of_one_wave + waves - 1) / waves,
                                           std::max<std::int64_t>(numbers.min_rows, extra), max_rows);
    const auto rows = round_up(static_cast<int>(wanted) + extra, round) - extra;
    const std::int64_t blocks_of_strip = divide_up(height, rows);
    return {rows, static_cast<unsigned>(blocks_of_strip),
            divide_up(strips * images * blocks_of_strip, resident_blocks)};
}

/// Shares out images among warps that march down strips of their own, side by side in blocks.
struct warp_strips {
    static constexpr int lanes = 32;
    static constexpr int max_warps = 4;  ///< of a block

    std::int64_t blocks;  ///< side by side, of `warps` warps each
    int warps;
    std::int64_t blocks_per_sm;
    std::int64_t rows_of_wave;  ///< of strips whose blocks make one wave over the whole device

    /// Rows have `row_columns` columns, strips `columns`. A multiprocessor holds `full_blocks` blocks of max_warps warps.
    warp_strips(std::int64_t row_columns, int columns, int full_blocks, std::int64_t height,
                std::int64_t images, const device_traits& device) {
        const std::int64_t row_warps = divide_up(row_columns, columns);
        blocks = divide_up(row_warps, max_warps);
        warps = static_cast<int>(divide_up(row_warps, blocks));
        blocks_per_sm = full_blocks * max_warps / warps;
        const std::int64_t segments =
            std::max<std::int64_t>(1, device.sm_count * blocks_per_sm / (blocks * images));
        rows_of_wave = divide_up(height, segments);
    }

    /// The grid for strips of `strip_rows` rows. A warp needs warp_bytes of shared memory. A block needs `lines` pointers to
    /// lines and, if lines lie at any address, their heads (kernels/frame/marching_warp.cuh).
    kernel_grid grid(std::int64_t height, std::int64_t images, int strip_rows, int warp_bytes, int lines,
                     bool aligned, const device_traits& device) const {
        const std::size_t line_bytes = sizeof(const std::uint8_t*) + (aligned ? 0 : sizeof(unsigned));
        const std::size_t needed = static_cast<std::size_t>(warps) * static_cast<std::size_t>(warp_bytes) +
                                   static_cast<std::size_t>(lines) * line_bytes;
        return {.blocks = {blocks, divide_up(height, strip_rows), images},
                .threads = {std::int64_t{warps} * lanes},
                .shared_bytes =
                    std::max(needed, static_cast<std::size_t>(shared_bytes_of_one_of(blocks_per_sm, device))),
                .shared_limit = device.shared_memory_per_block_optin,
                .begins_early = waits_for_grids(device)};
    }
};

}  // namespace heddle::kernels::gaussian_blur
