// block_per_row: 256 threads per row.
//
//   row:     | 0 1 2 ... 255 | 0 1 2 ... 255 | 0 1 2 ...        thread of each element
//
// A warp's loads lie side by side, and all SMs have work from 132 rows on. The row is still read twice, element by
// element, the second time from L1 or L2 where it fits. It takes any strides.

#include "kernels/device/grid.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/device/strided_row.cuh"
#include "kernels/softmax/gradient.cuh"
#include "kernels/softmax/launch.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::softmax {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int warps = threads / warp_size;
};

template <bool logarithm, class T>
__global__ void __launch_bounds__(tile::threads) gradient_block_per_row(gradient_arguments<T> a) {
    __shared__ float of_warps[tile::warps];
    for (std::int64_t row = blockIdx.x; row < a.dx.rows; row += gridDim.x) {
        const strided_row y(a.y, row);
        const strided_row dy(a.dy, row);
        const strided_row dx(a.dx, row);

        const float of_thread = combine_runs(
            threadIdx.x, a.dx.cols, tile::threads, 0.0f,
            [&](std::int64_t col) { return gradient_term<logarithm>(y(col), dy(col)); }, plus{});
        const float sum = block_sum(of_thread, of_warps);
        for (std::int64_t col = threadIdx.x; col < a.dx.cols; col += tile::threads)
            dx.store(col, gradient_of<logarithm, T>(y(col), dy(col), sum));
    }
}

}  // namespace

gradient_plan plan_gradient_block_per_row(const gradient_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = std::min(problem.rows, max_grid_x)}};
}

template <bool logarithm, class T>
void launch_gradient_block_per_row(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                                   cudaStream_t stream) {
    launch_rows(plan.rows, gradient_block_per_row<logarithm, T>, arguments, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_gradient_block_per_row, gradient_plan, gradient_arguments)

}  // namespace heddle::kernels::softmax
