// coalesced: a warp reads neighbours, whichever way they lie.
//
//   neighbours in a row:        one warp per row; lane l takes elements l, l + 32, ...; shuffles
//   neighbours across rows:     8 warps per 32 rows; lane l takes row l, and warp w elements w, w + 8, ...;
//                               the warps combine in shared memory
//
//                 row 0   row 1  ...  row 31
//   element 0     warp 0  warp 0      warp 0      (for columns of a matrix, "row" is a column of it)
//   element 1     warp 1  warp 1      warp 1
//   ...
//   element 8     warp 0  ...
//
// Each load of a warp is one or a few whole lines. But a thread loads one element at a time, few rows occupy few
// warps, and a single long row occupies only one or eight. It takes any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/runs.cuh"
#include "kernels/matrix_reduce/instantiate.hpp"
#include "kernels/matrix_reduce/operations.cuh"

namespace heddle::kernels::matrix_reduce {
namespace {

struct tile {
    static constexpr int warps = 8;
    static constexpr int threads = warps * warp_size;
};

/// Combines elements first, first + step, ... of a row.
template <class Operation, class T>
__device__ typename Operation::state accumulate(const matrix_view<const T>& x, std::int64_t row, int first,
                                                int step) {
    const T* data = x.data + row * x.row_stride;
    const auto element = [&](std::int64_t col) {
        const float value[1] = {static_cast<float>(data[col * x.col_stride])};
        return Operation::of(value, col, 1);
    };
    return combine_runs(first, x.cols, step, Operation::identity(), element, Operation{});
}

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    coalesced_rows(matrix_view<const T> x, vector_view<Result> y, float divisor) {
    const int lane = static_cast<int>(threadIdx.x % warp_size);
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::warps + threadIdx.x / warp_size;
    if (row >= x.rows) return;  // a whole warp returns

    auto total = accumulate<Operation>(x, row, lane, warp_size);
    total = combine_lanes<Operation>(total, warp_size);

    if (lane == 0) y.data[row * y.stride] = Operation::template finish<Result>(total, divisor);
}

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    coalesced_columns(matrix_view<const T> x, vector_view<Result> y, float divisor) {
    __shared__ typename Operation::state totals[tile::warps][warp_size];
    const int lane = static_cast<int>(threadIdx.x % warp_size);
    const int warp = static_cast<int>(threadIdx.x / warp_size);
    const std::int64_t row = std::int64_t{blockIdx.x} * warp_size + lane;

    if (row < x.rows) totals[warp][lane] = accumulate<Operation>(x, row, warp, tile::warps);
    ptx::sync_threads();
    if (warp != 0 || row >= x.rows) return;
    auto total = totals[0][lane];
    for (int w = 1; w < tile::warps; ++w) total = Operation{}(total, totals[w][lane]);

    y.data[row * y.stride] = Operation::template finish<Result>(total, divisor);
}

}  // namespace

template <class Operation>
plan plan_coalesced(const matrix_facts& problem, const device_traits&) {
    const bool is_across = is_across_rows(problem) || problem.row_stride < problem.col_stride;
    const int rows = is_across ? warp_size : tile::warps;     // per block
    const int sharers = is_across ? tile::warps : warp_size;  // threads per row
    return {.blocks = divide_up(problem.rows, rows),
            .threads = tile::threads,
            .is_across = is_across,
            .depth =
                runs_depth(divide_up(problem.cols, sharers)) + (is_across ? tile::warps : warp_reduce_depth)};
}

template <class Operation, class T>
void launch_coalesced(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    using result = result_type<Operation, T>;
    const auto kernel =
        plan.is_across ? coalesced_columns<Operation, T, result> : coalesced_rows<Operation, T, result>;
    launch({.blocks = {plan.blocks}, .threads = {plan.threads}, .stream = stream}, kernel, arguments.x,
           arguments.y, arguments.divisor);
}

HEDDLE_MATRIX_REDUCE_PLANS(plan_coalesced)
HEDDLE_MATRIX_REDUCE_LAUNCHES(launch_coalesced)

}  // namespace heddle::kernels::matrix_reduce
