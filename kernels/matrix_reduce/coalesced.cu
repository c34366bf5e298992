// coalesced: a warp reads neighbours, whichever way they lie.
//
//   neighbours in a row:        a warp a row; lane l takes elements l, l + 32, ...; shuffles
//   neighbours across rows:     lane l of each of 8 warps takes row l of 32; warp w elements w, w + 8, ...;
//                               the warps meet in shared memory
//
//                 row 0   row 1  ...  row 31
//   element 0     warp 0  warp 0      warp 0      (for columns of a matrix, "row" is a column of it)
//   element 1     warp 1  warp 1      warp 1
//   ...
//   element 8     warp 0  ...
//
// Each load of a warp is one or a few whole lines. What limits it: a load of one element at a time, too few
// warps where there are few rows, and none at all for a row that is long and alone. Any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/matrix_reduce/operations.cuh"

namespace heddle::kernels::matrix_reduce {
namespace {

struct tile {
    static constexpr int warps = 8;
    static constexpr int threads = warps * warp_size;
};

/// Elements first, first + step, ... of a row.
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
    if (row >= x.rows) return;  // whole warps

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
    __syncthreads();
    if (warp != 0 || row >= x.rows) return;
    auto total = totals[0][lane];
    for (int w = 1; w < tile::warps; ++w) total = Operation{}(total, totals[w][lane]);

    y.data[row * y.stride] = Operation::template finish<Result>(total, divisor);
}

template <class Shape>
bool has_neighbours_across_rows(const Shape& x) {
    return is_across_rows(x) || x.row_stride < x.col_stride;
}

}  // namespace

plan plan_coalesced(const matrix_reduce_problem& problem, const device_traits&) {
    if (has_neighbours_across_rows(problem))
        return {.partials = 0,
                .depth = runs_depth((problem.cols + tile::warps - 1) / tile::warps) + tile::warps};
    return {.partials = 0,
            .depth = runs_depth((problem.cols + warp_size - 1) / warp_size) + warp_reduce_depth};
}

template <class Operation, class T>
void launch_coalesced(const arguments<Operation, T>& arguments, const device_traits&, cudaStream_t stream) {
    const bool across = has_neighbours_across_rows(arguments.x);
    const int rows = across ? warp_size : tile::warps;
    const std::int64_t blocks = (arguments.x.rows + rows - 1) / rows;
    using result = result_type<Operation, T>;
    const auto kernel =
        across ? coalesced_columns<Operation, T, result> : coalesced_rows<Operation, T, result>;
    launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream}, kernel, arguments.x,
           arguments.y, arguments.divisor);
}

template void launch_coalesced(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<argmax, float>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<argmax, half>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<argmax, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<variance, float>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<variance, half>&, const device_traits&, cudaStream_t);
template void launch_coalesced(const arguments<variance, bfloat16>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matrix_reduce
