// naive: one thread per row.
//
//   thread i:  x[i][0], x[i][1], ..., one after another -> y[i]
//
// Nothing is shared, and it takes any strides. Where columns of a row-major matrix are reduced, neighbouring threads
// read neighbouring elements. Where rows are reduced, they read a row's stride apart. A load of a warp then touches 32
// sectors of 32 bytes, uses one element of each, and counts on L1 to keep the rest. Either way there are as many
// threads as results, which are few where rows are long, and each waits for one load at a time.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/runs.cuh"
#include "kernels/matrix_reduce/instantiate.hpp"
#include "kernels/matrix_reduce/operations.cuh"

namespace heddle::kernels::matrix_reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    naive(matrix_view<const T> x, vector_view<Result> y, float divisor) {
    const std::int64_t row = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (row >= x.rows) return;

    const auto element = [&](std::int64_t col) {
        const float value[1] = {static_cast<float>(x.data[row * x.row_stride + col * x.col_stride])};
        return Operation::of(value, col, 1);
    };
    const auto total = combine_runs(0, x.cols, 1, Operation::identity(), element, Operation{});

    y.data[row * y.stride] = Operation::template finish<Result>(total, divisor);
}

}  // namespace

template <class Operation>
plan plan_naive(const matrix_facts& problem, const device_traits&) {
    return {.blocks = divide_up(problem.rows, tile::threads),
            .threads = tile::threads,
            .depth = runs_depth(problem.cols)};
}

template <class Operation, class T>
void launch_naive(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    launch({.blocks = {plan.blocks}, .threads = {plan.threads}, .stream = stream},
           naive<Operation, T, result_type<Operation, T>>, arguments.x, arguments.y, arguments.divisor);
}

HEDDLE_MATRIX_REDUCE_PLANS(plan_naive)
HEDDLE_MATRIX_REDUCE_LAUNCHES(launch_naive)

}  // namespace heddle::kernels::matrix_reduce
