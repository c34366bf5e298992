// naive: the definition. One thread, one output value, the whole window.
//
//   out(x, y) = sum over dy of tap(dy) * (sum over dx of tap(dx) * in(x + dx, y + dy))
//
// (2r + 1)^2 loads and multiplications a value, though neighbours share nearly all of them; the caches hold
// the window, so the load instructions limit it. Any shape, any alignment; the radius is limited by the table
// of taps in the kernel's parameters.
//
// 4096 x 4096 float, radius 2, on an H200: 656 us.

#include "kernels/gaussian_blur/border.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include <heddle/error.hpp>

namespace heddle::kernels::gaussian_blur {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class T>
__global__ void __launch_bounds__(tile::threads) naive(const __grid_constant__ arguments<T> a) {
    const image_view<const T>& source = a.source;
    const std::int64_t row_values = source.width * source.channels;
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (i >= row_values * source.height) return;
    const std::int64_t y = i / row_values;
    const std::int64_t x = i % row_values / source.channels;
    const std::int64_t channel = i % source.channels;
    const int radius = a.taps.radius;

    float sum = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
        const std::int64_t row = source_index(y + dy, source.height, a.border);
        float row_sum = 0;
        for (int dx = -radius; dx <= radius; ++dx) {
            const std::int64_t column = source_index(x + dx, source.width, a.border);
            const T value = row < 0 || column < 0
                                ? a.border_value
                                : source.data[row * source.row_stride + column * source.channels + channel];
            row_sum = fmaf(a.taps.table[abs(dx)], to_float(value), row_sum);
        }
        sum = fmaf(a.taps.table[abs(dy)], row_sum, sum);
    }
    a.destination.data[y * a.destination.row_stride + x * source.channels + channel] = from_float<T>(sum);
}

}  // namespace

template <class T>
void launch_naive(const arguments<T>& arguments, const device_traits&, cudaStream_t stream) {
    const image_view<T>& image = arguments.destination;
    const std::int64_t values = image.width * image.channels * image.height;
    const std::int64_t blocks = (values + tile::threads - 1) / tile::threads;
    naive<<<static_cast<unsigned>(blocks), tile::threads, 0, stream>>>(arguments);
    check(cudaGetLastError());
}

template void launch_naive(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_naive(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
