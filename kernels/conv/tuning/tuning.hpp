#pragma once

#include <array>
#include <cstdint>

namespace heddle::kernels::conv {

/// Where a group has fewer outputs, most of a tile of `tiled` has nothing to do, and a thread for each output is faster.
inline constexpr std::int64_t tiled_min_outputs = 8;

/// Blocks of `depthwise` for each multiprocessor: more share the strips more evenly, fewer stage fewer filters.
inline constexpr std::int64_t depthwise_blocks_per_sm = 4;

/// Where a pixel has fewer channels, most of what a step of `persistent` loads is zeros.
inline constexpr std::int64_t persistent_min_channels = 16;

/// What a tile of `persistent`, `mma_sync` or `register_tiled` costs, in microseconds.
struct tile_cost {
    double step_us;    ///< for 128 bytes of a tap's channels, or of a sum's terms
    double around_us;  ///< beside its steps: the epilogue and the stores
};
/// In the order of persistent_tiles. TF32 has half as many terms in as many bytes, and half the rate.
inline constexpr std::array persistent_costs = {
    tile_cost{0.724, 2.8}, tile_cost{0.71, 3.5},  tile_cost{0.55, 2.4},
    tile_cost{0.424, 1.9}, tile_cost{0.283, 1.4}, tile_cost{0.555, 1.9},
    tile_cost{0.324, 1.1}, tile_cost{0.231, 1},   tile_cost{0.41, 3.6}};
/// In the order of mma_sync_tiles: their share of a multiprocessor that has several at a time.
inline constexpr std::array mma_sync_costs = {tile_cost{0.47, 1.6}, tile_cost{0.26, 0.9},
                                              tile_cost{0.15, 0.6}, tile_cost{0.1, 0.4}};
/// In the order of register_tiles, the same: of the rate of FMAs, smaller tiles reach less.
inline constexpr std::array register_costs = {tile_cost{2.6, 2.4},  tile_cost{1.4, 1.3},
                                              tile_cost{0.76, 0.8}, tile_cost{0.74, 0.8},
                                              tile_cost{0.4, 0.5},  tile_cost{0.22, 0.4}};

/// Blocks of the `rows` kernel of mma_sync that a multiprocessor has at a time.
inline constexpr std::int64_t rows_blocks_per_sm = 4;

/// Blocks of `grouped` that a multiprocessor should have room for at a time, and what shared memory that leaves a block.
inline constexpr int grouped_blocks_per_sm = 4;
inline constexpr std::int64_t grouped_shared_bytes = 48 << 10;

/// Groups of more channels fill the tiles of `mma_sync`, or of float those of `register_tiled`; and the kernel of FMAs is slower
/// than padding for tensor cores.
inline constexpr std::int64_t grouped_mma_channels = 16, grouped_float_channels = 16,
                              grouped_fma_channels = 8;
/// Where an image has fewer output pixels, tiles are mostly empty.
inline constexpr std::int64_t grouped_min_pixels = 32;
/// Tensor cores take groups of so many channels too, where an image has no more output pixels: tiles of mma_sync then
/// reach from one image to the next.
inline constexpr std::int64_t grouped_wide_channels = 32, grouped_wide_most_pixels = 49;

}  // namespace heddle::kernels::conv
