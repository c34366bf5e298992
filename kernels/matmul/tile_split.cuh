#pragma once

#include "kernels/matmul/fragment.cuh"
#include <heddle/error.hpp>

#include <limits>

/// Between `pipelined`, which leaves sums, and `split_k`, which adds them up.
namespace heddle::kernels::matmul {

/// A block takes one of the first `whole` tiles. Blocks after these take parts along k of the other tiles, `parts` of
/// each, and leave their sums, as many as a tile has elements, row by row.
struct tile_split {
    int down;
    int across;
    int whole;
    int parts;
    float* sums;
};

inline tile_split split_of(const ffma_layout& layout, float* sums) {
    if (layout.blocks() > std::numeric_limits<int>::max())
        throw unsupported("matmul: C has more tiles of this algorithm than a grid has blocks");
    return {static_cast<int>(layout.down), static_cast<int>(layout.across), static_cast<int>(layout.whole),
            layout.parts, sums};
}

/// How sums are kept in memory: neighbours in each other's place. A packet is stored from four registers in a row. So
/// those of even columns get odd numbers, the opposite of B's, and no FFMA takes both from one bank of registers.
__device__ inline packet swapped(const packet& p) {
    return {p[1], p[0], p[3], p[2]};
}

}  // namespace heddle::kernels::matmul
