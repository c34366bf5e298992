// separable: two passes over the image, one along x and one along y.
//
//   source --(2r + 1 taps along x)--> intermediate (float, DRAM) --(2r + 1 taps along y)--> destination
//
// A Gaussian of x and y is a product, so a value takes 2 (2r + 1) multiplications, and not (2r + 1)^2 as for `naive`. Both
// passes are one kernel: a value is the sum over a line of its neighbours, `step` elements apart. Each pass still fetches
// every input with a load of its own, and the intermediate image costs a write and a read of DRAM. Any shape, alignment
// and radius will do: the taps stand in shared memory, a chunk at a time.

#include "kernels/device/border.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"

#include <algorithm>

namespace heddle::kernels::gaussian_blur {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int taps_chunk = 1024;
};

template <class T>
struct image_rows {
    T* data;
    std::int64_t row_stride;
    std::int64_t image_stride;
};

template <class Input, class Output>
struct pass {
    image_rows<const Input> input;
    image_rows<Output> output;
    std::int64_t images;
    std::int64_t rows;  ///< of an image of the output
    std::int64_t row_values;
    std::int64_t channels;
    bool along_y;
    std::int64_t size;    ///< of a line of the source, in pixels
    std::int64_t offset;  ///< of the output's first pixel on that line
    intermediate_image between;
    heddle::border border;
    Input border_value;
    gaussian_blur::taps taps;
};

/// Copies the weights from number `first` on to shared memory. All threads of the block call it.
__device__ void stage_taps(const taps& all, int first, int count, float* chunk) {
    ptx::sync_threads();
    for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < count; i += tile::threads) {
        const double t = (first + i - all.radius) / all.sigma;
        chunk[i] = all.radius <= taps::table_radius ? all.table[first + i]
                   : all.window == window::box      ? static_cast<float>(all.scale)
                                                    : static_cast<float>(all.scale * exp(-0.5 * t * t));
    }
    ptx::sync_threads();
}

template <class Input, class Output>
__global__ void __launch_bounds__(tile::threads) separable(const __grid_constant__ pass<Input, Output> p) {
    __shared__ float chunk[tile::taps_chunk];
    const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t step = p.along_y ? p.input.row_stride : p.channels;
    const int all_taps = 2 * p.taps.radius + 1;

    int staged = all_taps;  // none yet
    const std::int64_t rows = p.images * p.rows;
    for (std::int64_t top = std::int64_t{blockIdx.y} * blockDim.y; top < rows;
         top += std::int64_t{gridDim.y} * blockDim.y) {
        const std::int64_t row = top + threadIdx.y;
        const bool is_inside = x < p.row_values && row < rows;
        const std::int64_t image = row / p.rows;
        const std::int64_t y = row % p.rows;
        const std::int64_t at = p.offset + (p.along_y ? y : x / p.channels);
        const Input* line = p.input.data + image * p.input.image_stride +
                            (p.along_y ? x : p.between.source_row(y) * p.input.row_stride + x % p.channels);
        // The place on the line of a pixel of the source.
        const auto place = [&p](std::int64_t i) { return p.along_y ? p.between.row_of(i) : i; };
        float sum = 0;
        for (int first = 0; first < all_taps; first += tile::taps_chunk) {
            const int count = min(tile::taps_chunk, all_taps - first);
            if (staged != first) stage_taps(p.taps, first, count, chunk);
            staged = first;
            if (!is_inside) continue;
            const std::int64_t begin = at - p.taps.radius + first;
            if (begin >= 0 && begin + count <= p.size) {
                const Input* input = line + place(begin) * step;
                for (int i = 0; i < count; ++i) sum = fmaf(chunk[i], to_float(input[i * step]), sum);
            } else {
                for (int i = 0; i < count; ++i) {
                    const std::int64_t index = source_index(begin + i, p.size, p.border);
                    const Input value = index < 0 ? p.border_value : line[place(index) * step];
                    sum = fmaf(chunk[i], to_float(value), sum);
                }
            }
        }
        if (is_inside)
            p.output.data[image * p.output.image_stride + y * p.output.row_stride + x] =
                from_float<Output>(sum);
    }
}

}  // namespace

separable_plan plan_separable(const filter_facts& p, const device_traits& device) {
    const std::int64_t stride = row_values_between(p);
    const intermediate_image between = intermediate_of(p, stride);
    const launch_extents threads = block_of_rows(p.row_values(), tile::threads);
    const auto grid_of = [&p, &threads](std::int64_t rows) -> kernel_grid {
        return {.blocks = {divide_up(p.row_values(), threads.x),
                           std::min(divide_up(p.images * rows, threads.y), max_grid_y)},
                .threads = threads};
    };
    const auto row = static_cast<double>(round_up(p.row_values(), threads.x) * p.images);
    const double first = row * static_cast<double>(between.rows),
                 second = row * static_cast<double>(p.height);
    const double products =
        first * static_cast<double>(p.radius.x) + second * static_cast<double>(p.radius.y);
    return {.between = between,
            .scratch_bytes = scratch_bytes_between(p, stride),
            .along_x = grid_of(between.rows),
            .along_y = grid_of(p.height),
            .us = us_of_two_passes("separable", p, first + second, products, device)};
}

template <class T>
void launch_separable(const separable_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const image_view<const T>& source = a.source.first;
    const image_view<T>& destination = a.destination.first;
    const intermediate_image& between = plan.between;
    const std::int64_t row_values = destination.width * destination.channels;
    const std::int64_t image_stride = between.rows * between.stride;
    launch(config_of(plan.along_x, stream), separable<T, float>,
           {.input = {source.data, source.row_stride, a.source.stride},
            .output = {a.intermediate, between.stride, image_stride},
            .images = a.destination.count,
            .rows = between.rows,
            .row_values = row_values,
            .channels = source.channels,
            .along_y = false,
            .size = source.width,
            .offset = a.x,
            .between = between,
            .border = a.border,
            .border_value = a.border_value,
            .taps = a.taps_x});
    launch(config_of(plan.along_y, stream), separable<float, T>,
           {.input = {a.intermediate, between.stride, image_stride},
            .output = {destination.data, destination.row_stride, a.destination.stride},
            .images = a.destination.count,
            .rows = destination.height,
            .row_values = row_values,
            .channels = source.channels,
            .along_y = true,
            .size = source.height,
            .offset = a.y,
            .between = between,
            .border = a.border,
            .border_value = static_cast<float>(a.border_value) * a.taps_x.sum,
            .taps = a.taps_y});
}

template void launch_separable(const separable_plan&, const arguments<float>&, cudaStream_t);
template void launch_separable(const separable_plan&, const arguments<half>&, cudaStream_t);
template void launch_separable(const separable_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_separable(const separable_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
