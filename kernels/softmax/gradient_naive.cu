// naive: one thread per row, two passes over y and dy.
//
//   pass 1: sum dy y      pass 2: read again, write
//
// The formula as it stands. Neighbouring threads are a row apart, so each load of a row-major matrix fetches 32 bytes
// for one element. Few rows leave the device empty. It takes any strides.

#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/device/strided_row.cuh"
#include "kernels/softmax/gradient.cuh"
#include "kernels/softmax/launch.hpp"

#include <cstdint>

namespace heddle::kernels::softmax {
namespace {

struct tile {
    static constexpr int threads = 128;
};

template <bool logarithm, class T>
__global__ void __launch_bounds__(tile::threads) gradient_naive(gradient_arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= a.dx.rows) return;
    const strided_row y(a.y, row);
    const strided_row dy(a.dy, row);
    const strided_row dx(a.dx, row);

    const float sum = combine_runs(
        0, a.dx.cols, 1, 0.0f, [&](std::int64_t col) { return gradient_term<logarithm>(y(col), dy(col)); },
        plus{});
    for (std::int64_t col = 0; col < a.dx.cols; ++col)
        dx.store(col, gradient_of<logarithm, T>(y(col), dy(col), sum));
}

}  // namespace

gradient_plan plan_gradient_naive(const gradient_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = divide_up(problem.rows, tile::threads)}};
}

template <bool logarithm, class T>
void launch_gradient_naive(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                           cudaStream_t stream) {
    launch_rows(plan.rows, gradient_naive<logarithm, T>, arguments, stream);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_gradient_naive, gradient_plan, gradient_arguments)

}  // namespace heddle::kernels::softmax
