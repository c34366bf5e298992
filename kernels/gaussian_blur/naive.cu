// naive: the definition. A thread computes one output value from its whole window.
//
//   out(x, y) = sum over dy of tap_y(dy) * (sum over dx of tap_x(dx) * in(x + dx, y + dy))
//
// A value takes (2r + 1)^2 loads and multiplications, though neighbours share nearly all inputs. The caches hold the
// window, so load instructions are the limit. Any shape and alignment will do. The table of taps in the kernel's
// parameters limits the radius.

#include "kernels/device/border.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"

#include <algorithm>

namespace heddle::kernels::gaussian_blur {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class T>
__global__ void __launch_bounds__(tile::threads) naive(const __grid_constant__ arguments<T> a) {
    const image_view<const T>& source = a.source.first;
    const image_view<T>& destination = a.destination.first;
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= destination.width * destination.channels) return;
    const std::int64_t x = a.x + i / source.channels;
    const std::int64_t channel = i % source.channels;
    const int radius_x = a.taps_x.radius;
    const int radius_y = a.taps_y.radius;

    // The rows of all images of the batch, one after another.
    for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
         row < a.destination.count * destination.height; row += std::int64_t{gridDim.y} * blockDim.y) {
        const std::int64_t image = row / destination.height;
        const std::int64_t y = row % destination.height;
        const T* pixels = source.data + image * a.source.stride + channel;
        float sum = 0;
        for (int dy = -radius_y; dy <= radius_y; ++dy) {
            const std::int64_t from_y = source_index(a.y + y + dy, source.height, a.border);
            float row_sum = 0;
            for (int dx = -radius_x; dx <= radius_x; ++dx) {
                const std::int64_t from_x = source_index(x + dx, source.width, a.border);
                const T value = from_y < 0 || from_x < 0
                                    ? a.border_value
                                    : pixels[from_y * source.row_stride + from_x * source.channels];
                row_sum = fmaf(a.taps_x.table[radius_x + dx], to_float(value), row_sum);
            }
            sum = fmaf(a.taps_y.table[radius_y + dy], row_sum, sum);
        }
        destination.data[image * a.destination.stride + y * destination.row_stride + i] = from_float<T>(sum);
    }
}

}  // namespace

naive_plan plan_naive(const filter_facts& p, const device_traits& device) {
    constexpr std::int64_t blocks_per_sm = 8;
    const launch_extents threads = block_of_rows(p.row_values(), tile::threads);
    const std::int64_t across = divide_up(p.row_values(), threads.x),
                       down = divide_up(p.height * p.images, threads.y);
    const auto taps = static_cast<double>((2 * p.radius.x + 1) * (2 * p.radius.y + 1));
    return {{.blocks = {across, std::min(down, max_grid_y)}, .threads = threads},
            predicted_us("naive", device,
                         marching(p, across * down, blocks_per_sm, taps, 1, tile::threads, device))};
}

template <class T>
void launch_naive(const naive_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch(config_of(plan.grid, stream), naive<T>, a);
}

template void launch_naive(const naive_plan&, const arguments<float>&, cudaStream_t);
template void launch_naive(const naive_plan&, const arguments<half>&, cudaStream_t);
template void launch_naive(const naive_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_naive(const naive_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
