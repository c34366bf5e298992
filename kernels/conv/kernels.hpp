#pragma once

#include "kernels/frame/wgmma_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The compiled kernels of the rungs that have several, one row each. Tiles are m pixels by n channels of the output.
namespace heddle::kernels::conv {

using frame::consumers_have, frame::extra, frame::tile_shape;

inline constexpr int step_bytes = 128;  ///< of a pixel's channels that a step multiplies
constexpr std::int64_t step_channels(std::int64_t element_bytes) {
    return step_bytes / element_bytes;
}

inline constexpr tile_shape wgmma_tile{128, 128};

/// Some kernels are also compiled for float, rounded to TF32: for many pixels, for few outputs, and for few tiles. A kernel
/// that streams lets workers share the tiles of the last round. Few are
/// compiled with a user's function. One of those can take any convolution, whatever the number of outputs in a group.
struct window_kernel : frame::wgmma_kernel {
    bool takes_float = false;
    bool takes_function = false;
};
inline constexpr auto persistent_kernels = std::to_array<window_kernel>({
    {{.name = "persistent 128x256", .consumers = 2, .n = 256, .stages = 4, .can = extra::epilogue},
     false,
     true},
    {{.name = "persistent 256x128",
      .consumers = 2,
      .n = 128,
      .stages = 4,
      .can = extra::epilogue,
      .halves = 2}},
    {{.name = "persistent 192x128", .consumers = 3, .n = 128, .stages = 4, .can = extra::epilogue}},
    {{.name = "persistent 128x128",
      .consumers = 2,
      .n = 128,
      .stages = 6,
      .can = extra::epilogue,
      .have = consumers_have::turns,
      .halves = 2},
     true,
     true},
    {{.name = "persistent 256x64",
      .consumers = 2,
      .n = 64,
      .stages = 4,
      .can = extra::epilogue,
      .halves = 2}},
    {{.name = "persistent 128x64", .consumers = 2, .n = 64, .stages = 8, .can = extra::epilogue}, true, true},
    {{.name = "persistent 64x64", .consumers = 1, .n = 64, .stages = 8, .can = extra::both}, true},
    {{.name = "persistent 2x128x128",
      .consumers = 2,
      .n = 128,
      .stages = 6,
      .cluster = 2,
      .can = extra::epilogue,
      .divides_k = true},
     true},
});

inline constexpr int mma_row_bytes = 128;  ///< of a window or a filter that a step multiplies

/// A thread copies packets of 16 bytes at once, words of 4 bytes, or single elements through a register. A warp has warp_m
/// x 32 sums. Copies smaller than a packet serve few channels, so large tiles are not built for them.
struct mma_kernel {
    std::string_view name;
    int m, n;
    int warp_m;
    int stages;
    int blocks;  ///< per multiprocessor, at least

    constexpr tile_shape tile() const { return {m, n}; }
};
inline constexpr auto mma_packet_kernels = std::to_array<mma_kernel>({
    {"mma_sync packets 128x128", 128, 128, 64, 3, 2},
    {"mma_sync packets 128x64", 128, 64, 64, 3, 3},
    {"mma_sync packets 64x32", 64, 32, 16, 4, 4},
});
inline constexpr auto mma_word_kernels =
    std::to_array<mma_kernel>({{"mma_sync words 64x32", 64, 32, 16, 4, 4}});
/// The first one is also compiled with a user's function.
inline constexpr auto mma_element_kernels = std::to_array<mma_kernel>({
    {"mma_sync elements 64x64", 64, 64, 32, 4, 3},
    {"mma_sync elements 64x32", 64, 32, 16, 4, 4},
});

/// A thread has thread_m x thread_n sums, computed by FFMA, and a warp has 4 x 8 threads. If there are several slices, each
/// set of warps multiplies one slice of a step along k.
struct register_kernel {
    std::string_view name;
    int warps_m, warps_n, slices;
    int thread_m, thread_n;
    int stages;
    int blocks;  ///< per multiprocessor, at least

    constexpr tile_shape tile() const { return {warps_m * 4 * thread_m, warps_n * 8 * thread_n}; }
};
/// A thread copies four terms at once.
inline constexpr auto register_four_kernels = std::to_array<register_kernel>({
    {"register_tiled fours 128x64", 4, 1, 1, 8, 8, 2, 3},
    {"register_tiled fours 128x32", 4, 1, 1, 8, 4, 2, 4},
    {"register_tiled fours 64x64", 2, 1, 2, 8, 8, 2, 3},
    {"register_tiled fours 32x32", 1, 1, 4, 8, 4, 3, 4},
});
/// A thread copies one term at a time.
inline constexpr auto register_word_kernels = std::to_array<register_kernel>({
    {"register_tiled words 128x32", 4, 1, 1, 8, 4, 2, 4},
    {"register_tiled words 32x32", 1, 1, 4, 8, 4, 3, 4},
});

}  // namespace heddle::kernels::conv
