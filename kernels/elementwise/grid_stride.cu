// grid_stride: as many threads as the device holds, each walking the data in steps of the whole grid.
//
// Each block is started once. Rows and columns are walked separately, which needs no division. But a thread waits
// for its one small load before it issues the next, where `naive` starts a new block. It is faster than `naive`
// all the same. It takes any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/elementwise/any_of.cuh"
#include <heddle/elementwise.cuh>

#include <algorithm>

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
};

template <class T, int inputs, class Function>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    grid_stride(Function function, detail::elementwise_operands<T, inputs> a) {
    const std::int64_t first_col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t first_row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t col_step = std::int64_t{gridDim.x} * blockDim.x;
    const std::int64_t row_step = std::int64_t{gridDim.y} * blockDim.y;

    for (std::int64_t row = first_row; row < a.out.rows; row += row_step) {
        // Unrolling would put no more loads under way: a store may write what the next load reads.
#pragma unroll 1
        for (std::int64_t col = first_col; col < a.out.cols; col += col_step) {
            T x[inputs];
            for (int k = 0; k < inputs; ++k)
                x[k] = a.in[k].data[row * a.in[k].row_stride + col * a.in[k].col_stride];
            with_function(function, [&](const auto& f) {
                a.out.data[row * a.out.row_stride + col * a.out.col_stride] = detail::apply(f, x);
            });
        }
    }
}

}  // namespace

plan plan_grid_stride(const elementwise_facts& problem, const device_traits& device) {
    // A block takes several rows of a narrow matrix.
    std::int64_t width = 1;
    while (width < tile::threads && width < problem.cols) width *= 2;
    const std::int64_t height = tile::threads / width;
    const std::int64_t resident = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    const std::int64_t across = std::min((problem.cols - 1) / width + 1, resident);
    const std::int64_t down =
        std::min((problem.rows - 1) / height + 1, std::max<std::int64_t>(1, resident / across));
    return {.blocks = {across, down}, .threads = {width, height}};
}

void launch_grid_stride(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    visit(arguments, [&]<class T, class Function>(Function function) {
        const detail::elementwise_operands<T, Function::inputs> operands(arguments.operands);
        launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream},
               grid_stride<T, Function::inputs, Function>, function, operands);
    });
}

}  // namespace heddle::kernels::elementwise
