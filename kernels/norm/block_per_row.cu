// block_per_row: 256 threads per row, sums by a tree in shared memory.
//
//   row:     | 0 1 2 ... 255 | 0 1 2 ... 255 | 0 1 2 ...        thread of each element
//
// A warp's loads lie side by side, and all SMs have work from 132 rows on. It still reads a row three times
// (rms_norm: twice), element by element, the later times from L1 or L2 where the row fits. Blocks of 256
// threads are too large for short rows. It takes any strides.

#include "kernels/device/grid.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/strided_row.cuh"
#include "kernels/norm/launch.hpp"
#include "kernels/norm/scale.cuh"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::norm {
namespace {

struct tile {
    static constexpr int threads = 256;
};

/// Every thread gets the sum over the block.
__device__ float block_sum(float value, float (&values)[tile::threads]) {
    const int thread = static_cast<int>(threadIdx.x);
    values[thread] = value;
    ptx::sync_threads();
    for (int step = tile::threads / 2; step > 0; step /= 2) {
        if (thread < step) values[thread] += values[thread + step];
        ptx::sync_threads();
    }
    const float sum = values[0];
    ptx::sync_threads();  // the next sum takes the same places
    return sum;
}

template <bool centred, class T>
__global__ void __launch_bounds__(tile::threads) block_per_row(arguments<T> a) {
    __shared__ float values[tile::threads];
    const auto cols = static_cast<float>(a.x.cols);

    for (std::int64_t row = blockIdx.x; row < a.x.rows; row += gridDim.x) {
        const strided_row x(a.x, row);
        const strided_row y(a.y, row);

        float mean = 0;
        if constexpr (centred) {
            float sum = 0;
            for (std::int64_t col = threadIdx.x; col < a.x.cols; col += tile::threads) sum += x(col);
            mean = block_sum(sum, values) / cols;
        }
        float squares = 0;
        for (std::int64_t col = threadIdx.x; col < a.x.cols; col += tile::threads) {
            const float deviation = x(col) - mean;
            squares += deviation * deviation;
        }
        const float scale = reciprocal_deviation(block_sum(squares, values), cols, a.epsilon);

        for (std::int64_t col = threadIdx.x; col < a.x.cols; col += tile::threads)
            y.store(col,
                    scaled(x(col), mean, scale, parameter(a.gamma, col, 1.0f), parameter(a.beta, col, 0.0f)));
    }
}

}  // namespace

plan plan_block_per_row(const norm_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = std::min(problem.rows, max_grid_x)}};
}

template <bool centred, class T>
void launch_block_per_row(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch_rows(plan.rows, block_per_row<centred, T>, arguments, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_block_per_row, plan, arguments)

}  // namespace heddle::kernels::norm
