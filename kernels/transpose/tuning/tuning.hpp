#pragma once

#include <cstdint>

/// The parts of a matrix that blocks take. Chosen by measurement on Hopper GPUs.
namespace heddle::kernels::transpose {

/// Matrices of up to this many rows or columns are taken in strips: tiles of wider ones are full enough.
constexpr std::int64_t widest_strip(std::int64_t element_bytes) {
    return element_bytes < 4 ? 32 : 16;
}

/// The side of a small tile, for matrices that have few tiles or do not fill one.
inline constexpr int small_side = 64;

/// The most rows of tiles in a band: the lines that two of its columns share are then still in L2.
inline constexpr std::int64_t tile_rows_of_band = 128;

/// A tile of `shared_memory` would be mostly empty if a side of the matrix had fewer bytes.
inline constexpr std::int64_t narrow_bytes = 64;

/// Rows of fewer bytes are copied in packets that divide a row: a rest would be too large a part of it.
inline constexpr std::int64_t short_row_bytes = 64;

}  // namespace heddle::kernels::transpose
