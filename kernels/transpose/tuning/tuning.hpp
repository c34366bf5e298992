#pragma once

#include <cstdint>

/// Which part of a matrix a block takes. Chosen by measurement on Hopper GPUs.
namespace heddle::kernels::transpose {

/// Matrices of up to so many rows or columns go in strips: beyond them tiles of packets are full enough.
constexpr std::int64_t widest_strip(std::int64_t element_bytes) {
    return element_bytes < 4 ? 32 : 16;
}

/// The side of a small tile, for matrices that have few tiles, or less to fill one.
inline constexpr int small_side = 64;

/// A band has at most these rows of tiles: the lines that two of its columns share are then still in L2.
inline constexpr std::int64_t tile_rows_of_band = 128;

/// A tile of `shared_memory` with less on a side would be mostly empty.
inline constexpr std::int64_t narrow_bytes = 64;

/// Rows of less are copied by packets that leave no rest: there would be too few others.
inline constexpr std::int64_t short_row_bytes = 64;

}  // namespace heddle::kernels::transpose
