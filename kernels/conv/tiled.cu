// tiled: a block computes 64 pixels x 64 channels of the output from windows and filters in shared memory.
//
//   16 of the depth R S C:   input  64 pixels   [j][i]        thread (x, y) of 16 x 16 -> pixels 4y .. 4y+3,
//                            filters 64 outputs [j][k]                                    channels 4x .. 4x+3
//
// Windows become columns of a matrix (im2col) only in shared memory, never in global memory. A loaded element contributes
// to 64 sums. From shared memory, two loads of four elements serve sixteen products. What limits it: the FMA units, loads
// that nothing hides, and the address of each of them. A tile lies in one group, so few outputs in a group leave most of
// it empty. Takes any shape and address.

#include "kernels/conv/plan/predict.hpp"
#include "kernels/conv/tiled.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/device/launchers.hpp"
#include <heddle/types.hpp>

#include <algorithm>

namespace heddle::kernels::conv {

plan plan_tiled(const conv_problem& problem, const device_traits& device) {
    const tiled_counts tiles(output_pixels(problem), outputs_of_a_group(problem), problem.geometry.groups);
    return {
        .blocks = {std::min(tiles.all(), max_grid_x)},
        .threads = {tiled_tile::threads},
        .us = predicted_us("tiled", device,
                           {.bytes = tensor_bytes(problem),
                            .rounds = rounds_of(tiles.all(), device),
                            .steps = static_cast<double>(steps_along(depth(problem), tiled_tile::depth))})};
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_tiled, plan, arguments)

}  // namespace heddle::kernels::conv
