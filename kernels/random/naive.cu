// naive: one thread per element.
//
//   thread i:   place S + i   ->   its whole block of Philox   ->   one of its 4 (or 2) numbers
//
// A warp writes 32 neighbours of a row. Counters need no state, so all elements are computed in parallel. But neighbours
// compute the same block and throw three quarters of it away. It takes any shape and any strides. The limit is arithmetic:
// each element costs the multiplications of a block and a 64-bit division.

#include "kernels/device/math.hpp"
#include "kernels/random/draws.cuh"

#include <cstdint>

namespace heddle::kernels::random {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Draw>
__global__ void __launch_bounds__(tile::threads) naive(Draw draw, sequence<Draw> from, operands<Draw> a) {
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (i >= a.y.rows * a.y.cols) return;
    const std::int64_t row = i / a.y.cols;
    const std::int64_t col = i % a.y.cols;
    const std::uint64_t place = from.start() + static_cast<std::uint64_t>(i);

    typename Draw::drawn numbers[Draw::size];
    from.draw(draw, place, numbers);
    const int mine = static_cast<int>(place % Draw::size);
#pragma unroll
    for (int k = 0; k < Draw::size; ++k)
        if (k == mine) a.output(row, col) = draw.finish(numbers[k], a.input(row, col));
}

}  // namespace

plan plan_naive(const random_facts& problem, const device_traits&) {
    return {.blocks = {divide_up(problem.rows * problem.cols, tile::threads)}, .threads = {tile::threads}};
}

void launch_naive(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    visit(arguments, [&]<class Draw>(const Draw& draw) {
        launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<Draw>, draw,
               sequence<Draw>(arguments.generator), operands<Draw>(arguments));
    });
}

}  // namespace heddle::kernels::random
