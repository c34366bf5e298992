// naive: the definition. One thread computes one output value from the nine pixels of its window.
//
//   out(x, y) = filter of  in(x - 1, y - 1) .. in(x + 1, y + 1)
//
// Neighbouring threads share nearly all of their windows, which the caches hold. Each thread looks up the border for every
// pixel. What limits it: load and integer instructions. Takes any shape and alignment.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/image_filter/launch.hpp"
#include "kernels/image_filter/stencil.cuh"

namespace heddle::kernels::image_filter {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class T, class Filter>
__global__ void __launch_bounds__(tile::threads) naive(const __grid_constant__ arguments<T> a) {
    const image_view<const T>& source = a.source.first;
    const image_view<float>& destination = a.destination.first;
    const auto channels = static_cast<int>(source.channels);
    const std::int64_t row_values = destination.width * channels;
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (i >= row_values * destination.height * a.source.count) return;
    const std::int64_t image = i / (row_values * destination.height);
    const std::int64_t y = i / row_values % destination.height;
    const std::int64_t value = i % row_values;
    const std::int64_t x = value / channels;
    const std::int64_t channel = value % channels;

    typename Filter::partial rows[3];
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
        const std::int64_t row = source_index(a.y + y + dy, source.height, a.border);
        float pixels[3];
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) {
            const std::int64_t column = source_index(a.x + x + dx, source.width, a.border);
            const std::int64_t at =
                image * a.source.stride + row * source.row_stride + column * channels + channel;
            pixels[dx + 1] = static_cast<float>(row < 0 || column < 0 ? a.border_value : source.data[at]);
        }
        rows[dy + 1] = Filter::along_x(pixels[0], pixels[1], pixels[2]);
    }
    destination.data[image * a.destination.stride + y * destination.row_stride + value] =
        Filter::along_y(rows[0], rows[1], rows[2]);
}

}  // namespace

plan plan_naive(const problem& problem, const device_traits&) {
    const std::int64_t values = problem.width * problem.channels * problem.height * problem.images;
    return {.blocks = {divide_up(values, tile::threads)}, .threads = {tile::threads}};
}

template <class T>
void launch_naive(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    with_filter(a.stencil, [&]<class Filter>(Filter) {
        launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<T, Filter>, a);
    });
}

template void launch_naive(const plan&, const arguments<float>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<half>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::image_filter
