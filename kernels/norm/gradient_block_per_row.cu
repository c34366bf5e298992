// block_per_row: dx has 256 threads per row; the columns' sums have blocks of 32 columns and a part of the rows.
//
//   rows:    | 0 1 2 ... 255 | 0 1 2 ...     thread of each element, in four passes: mean, squares; both sums, dx
//   columns: a warp's lanes side by side, its rows 8 apart; each block leaves a partial sum, another kernel adds them
//
// A warp's loads lie side by side, and all SMs have work. Rows are read several times, element by element, from L1 or L2
// where they fit. The columns' sums read them once more, and first, so that dx may overwrite x or dy. It takes any
// strides.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row.cuh"
#include "kernels/device/runs.cuh"
#include "kernels/norm/gradient_partials.cuh"
#include "kernels/norm/tuning/generic.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::norm {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int warps = threads / warp_size;
};

template <bool centred, class T>
__device__ row_statistics statistics_of(const gradient_row<T>& row, std::int64_t count,
                                        float (&of_warps)[tile::warps]) {
    const auto cols = static_cast<float>(count);
    float mean = 0;
    if constexpr (centred) {
        const auto element = [&](std::int64_t col) { return row.x(col); };
        mean = block_sum(combine_runs(threadIdx.x, count, tile::threads, 0.0f, element, plus{}), of_warps) /
               cols;
    }
    const auto square = [&](std::int64_t col) {
        const float deviation = row.x(col) - mean;
        return deviation * deviation;
    };
    const float squares =
        block_sum(combine_runs(threadIdx.x, count, tile::threads, 0.0f, square, plus{}), of_warps);
    return {mean, reciprocal_deviation(squares, cols, row.a.epsilon)};
}

template <bool centred, class T>
__global__ void __launch_bounds__(tile::threads)
    gradient_statistics(gradient_arguments<T> a, row_statistics* results) {
    __shared__ float of_warps[tile::warps];
    for (std::int64_t row = blockIdx.x; row < a.x.rows; row += gridDim.x) {
        const row_statistics result = statistics_of<centred>(gradient_row<T>(a, row), a.x.cols, of_warps);
        if (threadIdx.x == 0) results[row] = result;
    }
}

/// `statistics` has all rows' statistics, or is null: then each block computes those of its rows.
template <bool centred, class T>
__global__ void __launch_bounds__(tile::threads)
    gradient_block_per_row(gradient_arguments<T> a, const row_statistics* statistics) {
    __shared__ float of_warps[tile::warps];
    const auto cols = static_cast<float>(a.x.cols);
    for (std::int64_t row = blockIdx.x; row < a.x.rows; row += gridDim.x) {
        const gradient_row<T> in_row(a, row);
        const auto [mean, scale] =
            statistics != nullptr ? statistics[row] : statistics_of<centred>(in_row, a.x.cols, of_warps);
        const auto z = [&](std::int64_t col) { return (in_row.x(col) - mean) * scale; };
        const auto term = [&](std::int64_t col) { return sum_pair{in_row.g(col), in_row.g(col) * z(col)}; };
        const sum_pair sums =
            combine_runs(threadIdx.x, a.x.cols, tile::threads, sum_pair{0, 0}, term, plus{});
        const float mean_of_g = centred ? block_sum(sums.plain, of_warps) / cols : 0.0f;
        const float mean_of_gz = block_sum(sums.scaled, of_warps) / cols;

        T* dx = a.dx.data + row * a.dx.row_stride;
        for (std::int64_t col = threadIdx.x; col < a.x.cols; col += tile::threads)
            dx[col * a.dx.col_stride] =
                static_cast<T>(gradient_of(in_row.g(col), z(col), scale, mean_of_g, mean_of_gz));
    }
}

template <class T>
__global__ void __launch_bounds__(tile::threads)
    gradient_columns(gradient_arguments<T> a, const row_statistics* statistics, float* partials) {
    __shared__ sum_pair of_warps[tile::warps][warp_size];
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const std::int64_t cols = a.x.cols, col = std::int64_t{blockIdx.x} * warp_size + lane;
    const std::int64_t first = std::int64_t{blockIdx.y} * tile::warps + warp;
    const auto term = [&](std::int64_t row) { return column_term(a, statistics, row, col); };
    sum_pair sums{0, 0};
    if (col < cols)
        sums = combine_runs(first, a.x.rows, std::int64_t{gridDim.y} * tile::warps, sums, term, plus{});
    of_warps[warp][lane] = sums;
    ptx::sync_threads();
    if (warp > 0 || col >= cols) return;
    for (int w = 1; w < tile::warps; ++w) sums = sums + of_warps[w][lane];
    partials[partial_at(blockIdx.y, false, col, cols)] = sums.plain;
    partials[partial_at(blockIdx.y, true, col, cols)] = sums.scaled;
}

}  // namespace

gradient_plan plan_gradient_block_per_row(const gradient_facts& problem, const device_traits& device) {
    gradient_plan plan{
        .threads = {tile::threads}, .blocks = std::min(problem.rows, max_grid_x), .cols = problem.cols};
    if (!problem.has_column_sums) return plan;
    const std::int64_t strips = divide_up(std::max<std::int64_t>(problem.cols, 1), warp_size);
    const std::int64_t most =
        divide_up(std::max<std::int64_t>(problem.rows, 1), tile::warps * gradient_sharing::least_rows);
    const std::int64_t wanted = gradient_sharing::column_blocks_per_sm * device.sm_count / strips + 1;
    plan.statistics = problem.rows;
    plan.partials = std::min(most, wanted);
    return plan;
}

template <bool centred, class T>
void launch_gradient_block_per_row(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                                   cudaStream_t stream) {
    const launch_config rows{.blocks = {plan.blocks}, .threads = plan.threads, .stream = stream};
    row_statistics* statistics = nullptr;
    if (has_column_sums(arguments)) {
        statistics = reinterpret_cast<row_statistics*>(arguments.scratch);
        auto* const partials = reinterpret_cast<float*>(arguments.scratch + statistics_bytes(plan));
        launch(rows, gradient_statistics<centred, T>, arguments, statistics);
        launch({.blocks = {divide_up(plan.cols, warp_size), plan.partials},
                .threads = {warp_size, tile::warps},
                .stream = stream},
               gradient_columns<T>, arguments, statistics, partials);
        launch_gradient_sums(plan, arguments, partials, stream);
    }
    if (arguments.dx.rows > 0) launch(rows, gradient_block_per_row<centred, T>, arguments, statistics);
}

HEDDLE_LAUNCHES_OF_BOTH(launch_gradient_block_per_row, gradient_plan, gradient_arguments)

}  // namespace heddle::kernels::norm
