#pragma once

#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/conv/plan/layout.hpp"
#include <heddle/conv.hpp>

#include <cstdint>

/// How the `rows` kernel of `mma_sync` lays out images of few channels in shared memory. Pure.
namespace heddle::kernels::conv {

/// The output pixels of a block's tile. A warp has two rows of it.
inline constexpr int rows_tile_height = 8, rows_tile_width = 16;
inline constexpr std::int64_t rows_blocks_per_sm = 4;
inline constexpr int rows_threads = rows_tile_height / 2 * 32;

/// The outputs of a block. The kernel is built for 32 and for 64.
inline constexpr int rows_fewest_outputs = 32;
constexpr int rows_outputs(std::int64_t outputs) {
    return outputs > rows_fewest_outputs ? 64 : rows_fewest_outputs;
}

/// The layout of shared memory; extents are in elements.
struct rows_layout {
    std::int64_t taps;    ///< terms of a row of a filter (taps and their channels), neighbours in memory
    std::int64_t padded;  ///< taps with zeros up to a multiple of 8
    std::int64_t depth;   ///< of all rows, in steps of 16
    std::int64_t filter_pitch;  ///< in shared memory; puts eight filters into different banks
    std::int64_t patch_rows;    ///< of the input under a tile's windows
    std::int64_t patch_width;
    std::int64_t patch_pitch;
    int copies;  ///< of the patch; a second one begins an element later, for windows that begin at odd elements

    constexpr explicit rows_layout(const conv_problem& p)
        : taps(p.filters.width * p.filters.channels),
          padded(round_up(taps, 8)),
          depth(round_up(p.filters.height * padded, 16)),
          filter_pitch(depth + 8),
          patch_rows((rows_tile_height - 1) * p.geometry.stride.y +
                     (p.filters.height - 1) * p.geometry.dilation.y + 1),
          patch_width(((rows_tile_width - 1) * p.geometry.stride.x + p.filters.width) * p.filters.channels),
          patch_pitch(round_up((rows_tile_width - 1) * p.geometry.stride.x * p.filters.channels + padded, 2)),
          copies(p.geometry.stride.x * p.filters.channels % 2 == 0 ? 1 : 2) {}

    constexpr std::int64_t patch_size() const { return patch_rows * patch_pitch; }
    /// The bytes of sums, filters and patch for a block of this many outputs.
    constexpr std::int64_t shared_bytes(int outputs) const {
        constexpr std::int64_t float_bytes = 4, element_bytes = 2;
        return float_bytes * (rows_threads / 32) * rows_tile_width * (outputs + 8) +
               element_bytes * (outputs * filter_pitch + copies * patch_size());
    }
};

/// Whether the input under a row of a filter lies side by side in memory, and everything fits shared memory.
constexpr bool has_rows_of_taps(const conv_problem& p) {
    constexpr std::int64_t most_taps = 128, most_rows = 64, most_step = 16, most_bytes = 96 << 10;
    const conv_geometry& g = p.geometry;
    const auto is_dense = [](const tensor_layout& t) { return t.width <= 1 || t.col_stride == t.channels; };
    return g.groups == 1 && is_dense(p.input) && is_dense(p.filters) && p.filters.channels > 0 &&
           (g.dilation.x == 1 || p.filters.width == 1) && p.filters.width <= most_taps &&
           p.filters.channels <= most_taps && p.filters.height <= most_rows && g.stride.x <= most_step &&
           g.stride.y <= most_step && g.dilation.y <= most_step &&
           rows_layout(p).shared_bytes(rows_outputs(p.output.channels)) <= most_bytes;
}

}  // namespace heddle::kernels::conv
