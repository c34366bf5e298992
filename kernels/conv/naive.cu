// naive: the definition. One thread computes one element of the output. Neighbours in a warp have neighbouring channels.
//
//   thread i -> channel i % K of pixel i / K:   the sum over r, s, c of  input(window + (r, s), c) * filter(r, s, c)
//
// All threads of a warp read the same input element, and each reads a filter of its own. So each multiply-add takes a load
// from a cache line of its own. Takes any shape and address.

#include "kernels/conv/naive.cuh"
#include "kernels/conv/plan/predict.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {

plan plan_naive(const conv_problem& problem, const device_traits& device) {
    const std::int64_t blocks =
        divide_up(output_pixels(problem) * problem.output.channels, naive_tile::threads);
    return {.blocks = {std::min(blocks, max_grid_x)},
            .threads = {naive_tile::threads},
            .us = predicted_us("naive", device,
                               {.bytes = tensor_bytes(problem),
                                .rounds = rounds_of(blocks, device),
                                .steps = static_cast<double>(depth(problem))})};
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_naive, plan, arguments)

}  // namespace heddle::kernels::conv
