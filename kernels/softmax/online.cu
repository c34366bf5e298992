// online: one block per row; the largest element and the sum in one pass.
//
//   thread:  m' = max(m, x),  s' = s exp(m - m') + exp(x - m')     whenever a larger element comes, the sum
//   block:   (m, s) + (m', s') by the same rule, a tree in shared memory        so far is brought up to it
//
// A warp's loads lie side by side, and two of the three passes are left (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018). But every element needs a load instruction, which waits for the one
// before it. The row is read twice, and a block has 256 threads even where a row has fewer elements. It takes any
// strides.

#include "kernels/device/grid.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/strided_row.cuh"
#include "kernels/softmax/exponential.cuh"
#include "kernels/softmax/launch.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::softmax {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <bool logarithm, class T>
__global__ void __launch_bounds__(tile::threads) online(arguments<T> a) {
    __shared__ float maxima[tile::threads];
    __shared__ float sums[tile::threads];
    const int thread = static_cast<int>(threadIdx.x);

    for (std::int64_t row = blockIdx.x; row < a.x.rows; row += gridDim.x) {
        const strided_row x(a.x, row);
        T* y = a.y.data + row * a.y.row_stride;

        float largest = -infinity;
        float sum = 0;
        for (std::int64_t col = thread; col < a.x.cols; col += tile::threads) {
            const float value = x(col);
            const float former = largest;
            largest = fmaxf(largest, value);
            sum = sum * exponential<T>(difference(former, largest)) +
                  exponential<T>(difference(value, largest));
        }

        maxima[thread] = largest;
        sums[thread] = sum;
        ptx::sync_threads();
        for (int step = tile::threads / 2; step > 0; step /= 2) {
            if (thread < step) {
                const float mine = maxima[thread];
                const float other = maxima[thread + step];
                largest = fmaxf(mine, other);
                sums[thread] = sums[thread] * exponential<T>(difference(mine, largest)) +
                               sums[thread + step] * exponential<T>(difference(other, largest));
                maxima[thread] = largest;
            }
            ptx::sync_threads();
        }
        largest = maxima[0];
        sum = sums[0];
        ptx::sync_threads();  // the next row uses the same shared memory

        for (std::int64_t col = thread; col < a.x.cols; col += tile::threads)
            y[col * a.y.col_stride] =
                static_cast<T>(logarithm ? difference(x(col), largest) - logf(sum)
                                         : exponential<T>(difference(x(col), largest)) / sum);
    }
}

}  // namespace

plan plan_online(const softmax_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = std::min(problem.rows, max_grid_x)}};
}

template <bool logarithm, class T>
void launch_online(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch_rows(plan.rows, online<logarithm, T>, arguments, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_online, plan, arguments)

}  // namespace heddle::kernels::softmax
