// naive: one thread per element.
//
//   source:       . a b c d .       a warp reads 32 neighbours of a row: 128 bytes in one go
//
//   destination:  a . . .           and writes each to a row of its own: 32 pieces of 4 bytes, of which
//                 b . . .           the memory moves 32 bytes each
//                 c . . .
//                 d . . .
//
// The 8 rows of a block put 8 neighbours side by side in every row of the destination. So L2 can merge some of the
// writes. It takes any shape and any strides. The writes limit it: 32 requests for each request of reading.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/warp.hpp"
#include "kernels/transpose/launch.hpp"

#include <algorithm>

namespace heddle::kernels::transpose {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int cols = warp_size;
};

template <class Word>
__global__ void __launch_bounds__(tile::threads) naive(arguments<Word> a) {
    const std::int64_t col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= a.source.cols) return;
    for (std::int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < a.source.rows;
         row += gridDim.y * blockDim.y)
        a.destination.data[col * a.destination.row_stride + row * a.destination.col_stride] =
            a.source.data[row * a.source.row_stride + col * a.source.col_stride];
}

}  // namespace

plan plan_naive(const transpose_facts& problem, const device_traits&) {
    const std::int64_t rows = problem.rows, cols = problem.cols;
    // A block takes more rows where there are few columns, and more columns where there are few rows.
    std::int64_t width = power_at_least(cols, tile::cols);
    std::int64_t height = tile::threads / width;
    while (height / 2 >= rows && height > 1) {
        height /= 2;
        width *= 2;
    }
    return {.blocks = {divide_up(cols, width), std::min(divide_up(rows, height), max_grid_y)},
            .threads = {width, height}};
}

template <class Word>
void launch_naive(const plan& plan, const arguments<Word>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<Word>, arguments);
}

HEDDLE_WORD_TYPES(HEDDLE_LAUNCH, launch_naive, plan, arguments)

}  // namespace heddle::kernels::transpose
