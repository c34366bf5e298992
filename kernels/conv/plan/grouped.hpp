#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/device/grid.hpp"
#include <heddle/conv.hpp>

#include <algorithm>
#include <cstdint>

/// How `grouped` divides a problem: a block has a tile of output pixels and a slab of groups. Pure.
namespace heddle::kernels::conv {

inline constexpr int grouped_threads = 128;
inline constexpr int grouped_pixels = 128;                  ///< of a tile, at most
inline constexpr int grouped_channels = 32;                 ///< of a slab, for input and for output, at most
inline constexpr int grouped_pitch = grouped_channels + 4;  ///< from one pixel's sums to the next's
/// The number of blocks that should fit a multiprocessor, and the shared memory that this leaves for a block.
inline constexpr int grouped_blocks_per_sm = 4;
inline constexpr std::int64_t grouped_shared_bytes = 48 << 10;
inline constexpr std::int64_t grouped_most_bytes = 96 << 10;

enum class grouped_products { fma, mma };

/// The layout of a block's data. Extents are in elements unless noted.
struct grouped_layout {
    int groups = 1;                         ///< of a slab
    int channels = 1, outputs = 1;          ///< of a group
    int height = 1, width = 1;              ///< of a tile of output pixels
    int patch_height = 1, patch_width = 1;  ///< of the input under a tile's windows
    int patch_pitch = 1;                    ///< bytes from one pixel of the patch to the next
    int patch_row = 1;                      ///< bytes from one row of the patch to the next
    int depth = 1;                          ///< terms of a sum
    int steps = 1;                          ///< of 16 terms, for mma
    int filter_pitch = 1;  ///< from one filter to the next (mma), or one term to the next (fma)
    std::int64_t patch_bytes = 0, filter_bytes = 0;
    std::int64_t slabs = 1, tiles_across = 1, tiles_down = 1;

    constexpr grouped_layout() = default;
    constexpr grouped_layout(const conv_problem& p, grouped_products products, std::int64_t slab_groups,
                             std::int64_t pixels) {
        constexpr std::int64_t packet = 16, widest = 16;
        const conv_geometry& g = p.geometry;
        const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
        // Tiles have equal sizes; otherwise the last row or column of tiles would be mostly empty.
        const auto shared_out = [](std::int64_t n, std::int64_t most) {
            return divide_up(n, divide_up(n, std::max<std::int64_t>(1, most)));
        };
        /// The least number that is at least n and has this remainder.
        const auto next = [](std::int64_t n, std::int64_t divisor, std::int64_t remainder) {
            return n + (remainder - n % divisor + divisor) % divisor;
        };
        groups = narrow(slab_groups);
        channels = narrow(p.filters.channels);
        outputs = narrow(outputs_of_a_group(p));
        width = narrow(shared_out(p.output.width, std::min(widest, pixels)));
        height = narrow(shared_out(p.output.height, pixels / width));
        patch_height = narrow((height - 1) * g.stride.y + (p.filters.height - 1) * g.dilation.y + 1);
        patch_width = narrow((width - 1) * g.stride.x + (p.filters.width - 1) * g.dilation.x + 1);
        slabs = divide_up(g.groups, slab_groups);
        tiles_across = divide_up(p.output.width, width);
        tiles_down = divide_up(p.output.height, height);
        // The eight pixels of a fragment lie in different banks, and so do quads of neighbouring taps in x and in y.
        const bool is_mma = products == grouped_products::mma;
        const std::int64_t bytes = p.input.element_bytes,
                           packets = divide_up(slab_groups * channels * bytes, packet),
                           apart = is_mma && channels >= 16 && g.stride.x % 2 == 1 ? 2 : 1,
                           pixel_packets = next(packets, 2 * apart, apart),
                           row_packets = is_mma && apart == 1 ? next(patch_width * pixel_packets, 8, 5)
                                                              : patch_width * pixel_packets;
        patch_pitch = narrow(pixel_packets * packet);
        patch_row = narrow(row_packets * packet);
        patch_bytes = std::int64_t{patch_height} * patch_row;
        depth = narrow(conv::depth(p));
        steps = narrow(divide_up(depth, 16));
        if (is_mma) {
            filter_pitch = 16 * (steps | 1);  // puts neighbouring filters into different banks too
            filter_bytes = std::int64_t{16} * steps + slab_groups * outputs * filter_pitch * bytes;
        } else {
            filter_pitch = narrow(slab_groups * round_up(outputs, 4));
            filter_bytes = std::int64_t{depth} * filter_pitch * 4;
        }
    }

    constexpr std::int64_t blocks(std::int64_t images) const {
        return images * tiles_down * tiles_across * slabs;
    }
    /// The bytes of the sums, of the pixels' offsets in output, residual and patch, of the patch and of the filters.
    constexpr std::int64_t shared_bytes() const {
        return std::int64_t{grouped_pixels} * (grouped_pitch * 4 + 16 + 4) + patch_bytes + filter_bytes;
    }
};

/// The widest slab and the largest tile that leave room for other blocks; else the first that fits, or else the smallest.
constexpr grouped_layout grouped_layout_of(const conv_problem& p, grouped_products products) {
    std::int64_t most = 1;
    while (2 * most * std::max(p.filters.channels, outputs_of_a_group(p)) <= grouped_channels &&
           most < p.geometry.groups)
        most *= 2;
    for (const std::int64_t bytes : {grouped_shared_bytes, grouped_most_bytes})
        for (std::int64_t groups = most; groups > 0; groups /= 2)
            for (std::int64_t pixels = grouped_pixels; pixels >= (bytes < grouped_most_bytes ? 64 : 16);
                 pixels /= 2)
                if (const grouped_layout l(p, products, groups, pixels); l.shared_bytes() <= bytes) return l;
    return {p, products, 1, 16};
}

/// Whether slabs have whole groups, and the patch and the filters fit shared memory.
constexpr bool has_slabs(const conv_problem& p, grouped_products products) {
    constexpr std::int64_t most = 128;
    const conv_geometry& g = p.geometry;
    const auto is_small = [](std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
        return taps <= most && stride <= most && (dilation <= most || taps == 1);
    };
    if (p.filters.channels < 1 || p.filters.channels > grouped_channels ||
        outputs_of_a_group(p) > grouped_channels || !fits_in_ints(p) ||
        !is_small(p.filters.height, g.stride.y, g.dilation.y) ||
        !is_small(p.filters.width, g.stride.x, g.dilation.x))
        return false;
    const grouped_layout l = grouped_layout_of(p, products);
    return l.shared_bytes() <= grouped_most_bytes && l.blocks(p.output.count) <= max_grid_x;
}

}  // namespace heddle::kernels::conv
