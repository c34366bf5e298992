// naive: one thread per row, three passes over memory.
//
//   pass 1: the largest element      pass 2: the sum of exponentials      pass 3: read again, write
//
// The formula as it stands. Neighbouring threads are a row apart, so each load of a row-major matrix fetches
// 32 bytes for one element, three times. Few rows leave the device empty. It takes any strides; a column-major
// matrix makes loads coalesced.

#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/device/strided_row.cuh"
#include "kernels/softmax/exponential.cuh"
#include "kernels/softmax/launch.hpp"

#include <cstdint>

namespace heddle::kernels::softmax {
namespace {

struct tile {
    static constexpr int threads = 128;
};

template <bool logarithm, class T>
__global__ void __launch_bounds__(tile::threads) naive(arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= a.x.rows) return;
    const strided_row x(a.x, row);
    const strided_row y(a.y, row);

    float largest = -infinity;
    for (std::int64_t col = 0; col < a.x.cols; ++col) largest = fmaxf(largest, x(col));
    const auto share = [&](std::int64_t col) { return exponential<T>(difference(x(col), largest)); };
    const float sum = combine_runs(0, a.x.cols, 1, 0.0f, share, plus{});

    for (std::int64_t col = 0; col < a.x.cols; ++col)
        y.store(col, logarithm ? difference(x(col), largest) - logf(sum) : share(col) / sum);
}

}  // namespace

plan plan_naive(const softmax_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = divide_up(problem.rows, tile::threads)}};
}

template <bool logarithm, class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch_rows(plan.rows, naive<logarithm, T>, arguments, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_naive, plan, arguments)

}  // namespace heddle::kernels::softmax
