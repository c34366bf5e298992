#pragma once

#include "kernels/matmul/fragment.cuh"
#include <heddle/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

/// Between `pipelined` and `tma_pipelined`, which leave sums, and `split_k`, which adds them up.
namespace heddle::kernels::matmul {

/// A block takes one of the first `whole` tiles. Blocks after these take parts along k of the other tiles, `parts` of
/// each, and leave their sums, as many as a tile has elements, row by row. So it is in each product of a batch.
struct tile_split {
    int down;
    int across;
    int whole;
    int parts;
    float* sums;

    __host__ __device__ int all_parts() const { return (down * across - whole) * parts; }
};

inline tile_split split_of(const plan& plan, const product_workspace& workspace) {
    if (plan.whole + plan.shared() * plan.parts > std::numeric_limits<int>::max())
        throw unsupported("matmul: C has more tiles of this algorithm than a grid has blocks");
    return {static_cast<int>(plan.down), static_cast<int>(plan.across), static_cast<int>(plan.whole),
            plan.parts, reinterpret_cast<float*>(workspace.scratch)};
}

/// The part of a tile that a block takes.
struct tile_part {
    bool is_part;  ///< else the tile is whole
    int index;     ///< among all parts of the product
    tile_position at;
    int first_step;
    int steps;

    __device__ tile_part(const tile_split& tiles, int block, int all_steps)
        : is_part(block >= tiles.whole), index(max(0, block - tiles.whole)) {
        const int parts = is_part ? tiles.parts : 1, part = index % parts;
        at = grouped(is_part ? tiles.whole + index / parts : block, tiles.down, tiles.across);
        const int each = all_steps / parts, longer = all_steps % parts;  // the first parts have a step more
        first_step = part * each + min(part, longer);
        steps = each + (part < longer ? 1 : 0);
    }
};

/// Adds up what the parts of tiles left, by a kernel that may be there before they are done.
void launch_add_up(const plan& plan, const arguments& arguments, const block_kernel& tile,
                   cudaStream_t stream);

}  // namespace heddle::kernels::matmul
