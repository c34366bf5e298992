#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace heddle::kernels::conv {

/// Where a group has fewer outputs, most of a tile of `tiled` has nothing to do, and a thread for each output is faster.
inline constexpr std::int64_t tiled_min_outputs = 8;

/// Blocks of `depthwise` for each multiprocessor: more share the strips more evenly, fewer stage fewer filters.
inline constexpr std::int64_t depthwise_blocks_per_sm = 4;

/// Where a pixel has fewer channels, most of what a step of `persistent` loads is zeros.
inline constexpr std::int64_t persistent_min_channels = 16;

/// What a tile of a rung costs, in microseconds, however its kernels copy.
struct tile_cost {
    std::string_view rung, tile;
    double step_us;    ///< for 128 bytes of a tap's channels, or of a sum's terms
    double around_us;  ///< beside its steps: the epilogue and the stores
};
/// TF32 has half as many terms in as many bytes, and half the rate. Of mma_sync and register_tiled, their share of a multiprocessor
/// that has several at a time; of the rate of FMAs, smaller tiles reach less.
inline constexpr auto tile_costs = std::to_array<tile_cost>({
    {"persistent", "128x256", 0.724, 2.8},  {"persistent", "256x128", 0.71, 3.5},
    {"persistent", "192x128", 0.55, 2.4},   {"persistent", "128x128", 0.424, 1.9},
    {"persistent", "64x128", 0.283, 1.4},   {"persistent", "256x64", 0.555, 1.9},
    {"persistent", "128x64", 0.324, 1.1},   {"persistent", "64x64", 0.231, 1},
    {"persistent", "2x128x128", 0.41, 3.6}, {"mma_sync", "128x128", 0.47, 1.6},
    {"mma_sync", "128x64", 0.26, 0.9},      {"mma_sync", "64x64", 0.15, 0.6},
    {"mma_sync", "64x32", 0.1, 0.4},        {"register_tiled", "128x128", 2.6, 2.4},
    {"register_tiled", "128x64", 1.4, 1.3}, {"register_tiled", "128x32", 0.76, 0.8},
    {"register_tiled", "64x64", 0.74, 0.8}, {"register_tiled", "64x32", 0.4, 0.5},
    {"register_tiled", "32x32", 0.22, 0.4},
});

/// What a kernel's tile costs, by its rung, the first word of its name, and its tile, the last. One that has no cost does not
/// compile.
consteval tile_cost cost_of(std::string_view kernel) {
    const std::string_view rung = kernel.substr(0, kernel.find(' ')),
                           tile = kernel.substr(kernel.rfind(' ') + 1);
    std::size_t place = 0;
    while (tile_costs.at(place).rung != rung || tile_costs.at(place).tile != tile) ++place;
    return tile_costs[place];
}
/// The costs of all rows of a table.
template <const auto& kernels>
inline constexpr auto costs_of = []<std::size_t... row>(std::index_sequence<row...>) {
    return std::array{cost_of(kernels[row].name)...};
}
(std::make_index_sequence<kernels.size()>());

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
