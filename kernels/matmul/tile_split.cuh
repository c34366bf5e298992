#pragma once

#include "kernels/matmul/fragment.cuh"
#include <heddle/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

/// The data between `pipelined` or `tma_pipelined`, which leave sums, and `split_k`, which adds them up.
namespace heddle::kernels::matmul {

/// Each of the first blocks takes one of the `whole` first tiles. Each later block takes one of `parts` parts along k of
/// another tile. It leaves its sums row by row, one for each element of a tile. Each product of a batch does the same.
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
        const int each = all_steps / parts, longer = all_steps % parts;  // the first parts have one step more
        first_step = part * each + min(part, longer);
        steps = each + (part < longer ? 1 : 0);
    }
};

/// Adds up the sums of all parts, by a kernel that may begin before they are complete.
void launch_add_up(const plan& plan, const arguments& arguments, const block_kernel& tile,
                   cudaStream_t stream);

}  // namespace heddle::kernels::matmul
