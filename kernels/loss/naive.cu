// naive: one thread per row.
//
//   cross_entropy:       pass 1: the largest      pass 2: the sum of exponentials      pass 3: read again, write
//   mean_squared_error:  pass 1: the sum of squares, and write
//
// The formulas as they stand. Neighbouring threads are a row apart, so each load of a row-major matrix fetches 32 bytes
// for one element. Few rows leave the device empty. It takes any strides; a column-major matrix makes loads coalesced.

#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/row_launch.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/device/strided_row.cuh"
#include "kernels/loss/launch.hpp"
#include "kernels/loss/row_target.cuh"
#include "kernels/loss/squared_error.cuh"

#include <cstdint>

namespace heddle::kernels::loss {
namespace {

struct tile {
    static constexpr int threads = 128;
};

template <class T>
__global__ void __launch_bounds__(tile::threads) naive(cross_entropy_arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= a.logits.rows) return;
    const strided_row x(a.logits, row);
    const row_target target = target_of(a, row);
    const float logit = logit_of(a, row, target);

    float largest = -infinity;
    for (std::int64_t col = 0; col < a.logits.cols; ++col) largest = fmaxf(largest, x(col));
    const auto share = [&](std::int64_t col) { return exponential<T>(difference(x(col), largest)); };
    const auto distance = [&](std::int64_t col) { return difference(logit, x(col)); };
    const normalizer of_row{largest, combine_runs(0, a.logits.cols, 1, 0.0f, share, plus{})};
    const float distances = a.smoothing > 0 ? combine_runs(0, a.logits.cols, 1, 0.0f, distance, plus{}) : 0;

    write_loss(a.loss, row, loss_of(a, target, of_row, logit, distances));
    if (!is_wanted(a.gradient)) return;
    const one_hot hot(a);
    const float factor = a.scale / of_row.sum;
    T* y = a.gradient.data + row * a.gradient.row_stride;
    for (std::int64_t col = 0; col < a.logits.cols; ++col) {
        const float wanted = col == target.col ? hot.of_label : hot.of_others;
        y[col * a.gradient.col_stride] =
            static_cast<T>(target.is_col() ? fmaf(share(col), factor, -wanted) : target.fill());
    }
}

template <class T>
__global__ void __launch_bounds__(tile::threads) naive(mean_squared_error_arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= a.prediction.rows) return;
    const squared_error_row<T> in_row(a, row);
    const auto square = [&](std::int64_t col) { return in_row.take_square(col); };
    write_loss(a.loss, row, combine_runs(0, a.prediction.cols, 1, 0.0f, square, plus{}) / in_row.cols);
}

}  // namespace

plan plan_naive(const loss_facts& problem, const device_traits&) {
    return {.rows = {.threads = {tile::threads}, .blocks = divide_up(problem.rows, tile::threads)}};
}

template <class Arguments>
void launch_naive(const plan& plan, const Arguments& arguments, cudaStream_t stream) {
    void (*const kernel)(Arguments) = naive;
    launch_rows(plan.rows, kernel, arguments, stream);
}

HEDDLE_LAUNCHES(launch_naive, plan, cross_entropy_arguments)
HEDDLE_LAUNCHES(launch_naive, plan, mean_squared_error_arguments)

}  // namespace heddle::kernels::loss
