// naive: the definition. A thread computes one element of the output; neighbours in a warp take neighbouring channels.
//
//   thread i -> channel i % C of pixel i / C:   the largest, or the sum, of that channel in the pixels of its window
//
// A thread loads one element at a time, and each load waits for the one before. Averages are sums in double. It takes
// any shape and any address.

#include "kernels/device/grid.hpp"
#include "kernels/device/index_division.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/pool/launch.hpp"
#include "kernels/pool/operations.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::pool {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Operation, class T>
__global__ void __launch_bounds__(tile::threads)
    naive(const __grid_constant__ arguments<T> a, index_division by_channels, index_division by_width,
          index_division by_height, std::int64_t elements) {
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x; i < elements; i += step) {
        const std::int64_t pixel = by_channels.quotient(i), channel = i - pixel * by_channels.divisor;
        const std::int64_t row = by_width.quotient(pixel), x = pixel - row * by_width.divisor;
        const std::int64_t image = by_height.quotient(row), y = row - image * by_height.divisor;
        const clipped_window w = window_of(a, y, x);
        const T* const from = a.input.data + image * a.input.image_stride + channel;
        typename Operation::wide result = Operation::identity;
        for (std::int64_t r = w.y; r < w.y + w.height; ++r)
            for (std::int64_t s = w.x; s < w.x + w.width; ++s)
                result = Operation::combine(
                    result, typename Operation::wide{
                                static_cast<float>(from[r * a.input.row_stride + s * a.input.col_stride])});
        a.output.data[image * a.output.image_stride + y * a.output.row_stride + x * a.output.col_stride +
                      channel] = static_cast<T>(static_cast<float>(Operation::finish(result, a, w)));
    }
}

}  // namespace

plan plan_naive(const pool_problem& problem, const device_traits&) {
    const tensor_layout& out = problem.output;
    const std::int64_t elements = out.count * out.height * out.width * out.channels;
    return {.blocks = std::min(divide_up(elements, tile::threads), max_grid_x), .threads = {tile::threads}};
}

template <class T>
void launch_naive(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const std::int64_t rows = a.output.count * a.output.height, pixels = rows * a.output.width,
                       elements = pixels * a.output.channels;
    launch({.blocks = {plan.blocks}, .threads = plan.threads, .stream = stream},
           a.mode == pool_mode::max ? naive<largest, T> : naive<mean, T>, a,
           index_division(a.output.channels, elements), index_division(a.output.width, pixels),
           index_division(a.output.height, rows), elements);
}

HEDDLE_LAUNCHES(launch_naive, plan, arguments)

}  // namespace heddle::kernels::pool
