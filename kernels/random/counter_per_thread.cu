// counter_per_thread: a thread computes one block of Philox and writes all of its numbers.
//
//   a row's places:   . . 2 3 | 4 5 6 7 | 8 9 .      a thread for each block; only a part of the blocks at the ends
//   threads:            0     |    1    |  2         belongs to this row
//
// It needs a quarter of naive's multiplications. Neighbouring threads take neighbouring blocks of a row, or blocks of
// neighbouring rows where the output lies in columns. It takes any shape and any strides. The stores limit it: threads
// that store at once write elements 4 apart, so each sector is written 4 times.

#include "kernels/device/grid.hpp"
#include "kernels/device/math.hpp"
#include "kernels/random/draws.cuh"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::random {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Draw>
__global__ void __launch_bounds__(tile::threads)
    counter_per_thread(Draw draw, sequence<Draw> from, operands<Draw> a, bool is_down) {
    constexpr int size = Draw::size;
    const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t y = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t x_step = std::int64_t{gridDim.x} * blockDim.x;
    const std::int64_t y_step = std::int64_t{gridDim.y} * blockDim.y;
    const std::int64_t first_block = is_down ? y : x, block_step = is_down ? y_step : x_step;
    const std::uint64_t start = from.start();

    for (std::int64_t row = is_down ? x : y; row < a.y.rows; row += is_down ? x_step : y_step) {
        const std::uint64_t row_place = start + static_cast<std::uint64_t>(row * a.y.cols);
        const auto lead = static_cast<std::int64_t>(row_place % size);  // of the first block, before the row
#pragma unroll 1
        for (std::int64_t col = first_block * size - lead; col < a.y.cols; col += block_step * size) {
            typename Draw::drawn numbers[size];
            from.draw(draw, row_place + static_cast<std::uint64_t>(col), numbers);
#pragma unroll
            for (int k = 0; k < size; ++k)
                if (col + k >= 0 && col + k < a.y.cols)
                    a.output(row, col + k) = draw.finish(numbers[k], a.input(row, col + k));
        }
    }
}

}  // namespace

plan plan_counter_per_thread(const random_facts& problem, const device_traits&) {
    // A row may begin with the last element of a block.
    const std::int64_t blocks = divide_up(problem.cols + problem.block_elements - 1, problem.block_elements);
    const std::int64_t along = problem.is_crossed ? problem.rows : blocks;
    const std::int64_t across = problem.is_crossed ? blocks : problem.rows;
    // Where x is short, its spare threads go to y.
    const std::int64_t width = power_at_least(along, tile::threads);
    const std::int64_t height = tile::threads / width;
    return {.blocks = {std::min(divide_up(along, width), max_grid_x),
                       std::min(divide_up(across, height), max_grid_y)},
            .threads = {width, height},
            .is_down = problem.is_crossed};
}

void launch_counter_per_thread(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    visit(arguments, [&]<class Draw>(const Draw& draw) {
        launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, counter_per_thread<Draw>,
               draw, sequence<Draw>(arguments.generator), operands<Draw>(arguments), plan.is_down);
    });
}

}  // namespace heddle::kernels::random
