#pragma once

#include <heddle/matmul.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// The tiles, m pixels by n channels of the output, that rungs are built for. What each costs stands in tuning/.
namespace heddle::kernels::conv {

inline constexpr int step_bytes = 128;  ///< of a pixel's channels, that a step multiplies
constexpr std::int64_t step_channels(std::int64_t element_bytes) {
    return step_bytes / element_bytes;
}

inline constexpr matmul_tile wgmma_tile{128, 128};
inline constexpr std::array register_tiles = {matmul_tile{128, 128}, matmul_tile{128, 64},
                                              matmul_tile{128, 32},  matmul_tile{64, 64},
                                              matmul_tile{64, 32},   matmul_tile{32, 32}};
/// Several blocks divide the depth among them.
inline constexpr std::array persistent_tiles = {
    matmul_tile{128, 256}, matmul_tile{256, 128}, matmul_tile{192, 128},
    matmul_tile{128, 128}, matmul_tile{64, 128},  matmul_tile{256, 64},
    matmul_tile{128, 64},  matmul_tile{64, 64},   matmul_tile{128, 128, 2}};
/// The places of those that are compiled for float, as TF32: for many pixels, few outputs, and few tiles.
inline constexpr std::array<std::size_t, 3> persistent_of_float = {3, 6, 8};
/// The places of those that are compiled with a user's function: few, and of any outputs in a group that one of all can take.
inline constexpr std::array<std::size_t, 3> persistent_with_function = {0, 3, 6};

}  // namespace heddle::kernels::conv
