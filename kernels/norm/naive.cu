// naive: one thread per row, three passes over memory.
//
//   pass 1: the mean      pass 2: the mean of squared deviations      pass 3: read again, write
//
// The formula as it stands; rms_norm needs no first pass. Neighbouring threads are a row apart, so each load of a
// row-major matrix fetches 32 bytes for one element, three times. Few rows leave the device empty. It takes any
// strides; a column-major matrix makes loads coalesced.

#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/device/strided_row.cuh"
#include "kernels/norm/launch.hpp"
#include "kernels/norm/scale.cuh"

#include <cstdint>

namespace heddle::kernels::norm {
namespace {

struct tile {
    static constexpr int threads = 128;
};

template <bool centred, class T>
__global__ void __launch_bounds__(tile::threads) naive(arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= a.x.rows) return;
    const strided_row x(a.x, row);
    const strided_row y(a.y, row);
    const auto cols = static_cast<float>(a.x.cols);

    float mean = 0;
    if constexpr (centred) {
        mean = combine_runs(0, a.x.cols, 1, 0.0f, x, plus{}) / cols;
    }
    const auto square = [&](std::int64_t col) {
        const float deviation = x(col) - mean;
        return deviation * deviation;
    };
    const float squares = combine_runs(0, a.x.cols, 1, 0.0f, square, plus{});
    const float scale = reciprocal_deviation(squares, cols, a.epsilon);

    for (std::int64_t col = 0; col < a.x.cols; ++col)
        y.store(col,
                scaled(x(col), mean, scale, parameter(a.gamma, col, 1.0f), parameter(a.beta, col, 0.0f)));
}

}  // namespace

plan plan_naive(const norm_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = divide_up(problem.rows, tile::threads)}};
}

template <bool centred, class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch_rows(plan.rows, naive<centred, T>, arguments, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_naive, plan, arguments)

}  // namespace heddle::kernels::norm
