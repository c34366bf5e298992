// naive: one thread per row for dx, one thread per column for dgamma and dbeta.
//
//   rows: mean and scale of each, kept      columns: down all rows      rows: both sums, dx
//
// The formula as it stands. The columns are summed first, so that dx may overwrite x or dy. Neighbouring threads of the
// rows' kernels are a row apart, so each load of a row-major matrix fetches 32 bytes for one element. Few columns leave
// the device empty. It takes any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/runs.cuh"
#include "kernels/norm/gradient.cuh"

#include <cstdint>

namespace heddle::kernels::norm {
namespace {

struct tile {
    static constexpr int threads = 128;
};

template <bool centred, class T>
__device__ row_statistics statistics_of(const gradient_row<T>& row, std::int64_t count) {
    const auto cols = static_cast<float>(count);
    const auto element = [&](std::int64_t col) { return row.x(col); };
    const float mean = centred ? combine_runs(0, count, 1, 0.0f, element, plus{}) / cols : 0.0f;
    const auto square = [&](std::int64_t col) {
        const float deviation = row.x(col) - mean;
        return deviation * deviation;
    };
    const float squares = combine_runs(0, count, 1, 0.0f, square, plus{});
    return {mean, reciprocal_deviation(squares, cols, row.a.epsilon)};
}

template <bool centred, class T>
__global__ void __launch_bounds__(tile::threads)
    gradient_statistics(gradient_arguments<T> a, row_statistics* results) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row < a.x.rows) results[row] = statistics_of<centred>(gradient_row<T>(a, row), a.x.cols);
}

template <class T>
__global__ void __launch_bounds__(tile::threads)
    gradient_columns(gradient_arguments<T> a, const row_statistics* statistics) {
    const std::int64_t col = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (col >= a.x.cols) return;
    const auto term = [&](std::int64_t row) { return column_term(a, statistics, row, col); };
    store_column(a, col, combine_runs(0, a.x.rows, 1, sum_pair{0, 0}, term, plus{}));
}

template <bool centred, class T>
__global__ void __launch_bounds__(tile::threads) gradient_naive(gradient_arguments<T> a) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= a.x.rows) return;
    const gradient_row<T> in_row(a, row);
    const auto [mean, scale] = statistics_of<centred>(in_row, a.x.cols);
    const auto z = [&](std::int64_t col) { return (in_row.x(col) - mean) * scale; };
    const auto term = [&](std::int64_t col) { return sum_pair{in_row.g(col), in_row.g(col) * z(col)}; };
    const sum_pair sums = combine_runs(0, a.x.cols, 1, sum_pair{0, 0}, term, plus{});
    const auto cols = static_cast<float>(a.x.cols);
    const float mean_of_g = centred ? sums.plain / cols : 0.0f;

    T* dx = a.dx.data + row * a.dx.row_stride;
    for (std::int64_t col = 0; col < a.x.cols; ++col)
        dx[col * a.dx.col_stride] =
            static_cast<T>(gradient_of(in_row.g(col), z(col), scale, mean_of_g, sums.scaled / cols));
}

}  // namespace

gradient_plan plan_gradient_naive(const gradient_facts& problem, const device_traits&) {
    return {.threads = {tile::threads},
            .blocks = divide_up(problem.rows, tile::threads),
            .statistics = problem.has_column_sums ? problem.rows : 0,
            .cols = problem.cols};
}

template <bool centred, class T>
void launch_gradient_naive(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                           cudaStream_t stream) {
    const launch_config rows{.blocks = {plan.blocks}, .threads = plan.threads, .stream = stream};
    if (has_column_sums(arguments)) {
        auto* const statistics = reinterpret_cast<row_statistics*>(arguments.scratch);
        launch(rows, gradient_statistics<centred, T>, arguments, statistics);
        launch({.blocks = {divide_up(plan.cols, tile::threads)}, .threads = plan.threads, .stream = stream},
               gradient_columns<T>, arguments, statistics);
    }
    if (arguments.dx.rows > 0) launch(rows, gradient_naive<centred, T>, arguments);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_gradient_naive, gradient_plan, gradient_arguments)

}  // namespace heddle::kernels::norm
