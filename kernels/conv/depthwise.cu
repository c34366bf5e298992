// depthwise: a filter for each channel. A thread has four neighbouring channels of a run of output pixels in a row.
//
//   row of the input    | 0 1 2 3 4 5 6 7 8 9 |      loaded once for all taps of a row of the filter, into registers
//   taps 0, 1, 2          a b c                      output 0
//                           a b c                    output 1 ... 7
//
// An input element serves R S sums and no more, so memory is the limit. A block takes a tile of rows and runs, so that L1 has
// what their windows share, and walks over tiles with the filters of its channels, float and transposed, in shared memory.
// Filters of 3 x 3 and 5 x 5 taps at steps of 1 and 2 are compiled for; of others each tap loads its pixels anew. Channels that
// do not lie in packets are taken one by one. Needs one input and one output channel in each group, and few taps.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/conv/tuning/tuning.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

template <class Element, int packet_size, int filter_taps, int window_step>
struct shape {
    using In = Element;
    static constexpr int packet = packet_size;
    static constexpr int taps = filter_taps;
    static constexpr int step = window_step;
    static constexpr bool is_any = taps == 1;
    static constexpr int outputs = depthwise_outputs(sizeof(In), {packet, taps, step});
    static constexpr int columns = (outputs - 1) * step + taps;
    using pixel = vector<In, packet>;
    using values = vector<float, packet>;
};

/// Tiles of the output: `across` runs of `down` rows of one image.
struct tile_counts {
    std::int64_t of_images;
    index_division by_rows, by_runs;

    __host__ tile_counts(std::int64_t images, std::int64_t rows, std::int64_t runs)
        : of_images(images * rows * runs), by_rows(rows, images * rows), by_runs(runs, of_images) {}
};

/// Shared memory: a line for each tap, and for scale and bias, of the block's channels.
template <class In, class Out>
__device__ void stage(float* lines, const arguments<In, Out>& a, std::int64_t first, int channels) {
    const int thread = static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
    const int height = static_cast<int>(a.filters.height), width = static_cast<int>(a.filters.width),
              taps = height * width;
    const int here = static_cast<int>(::min(std::int64_t{channels}, a.output.channels - first));
    if (a.filters.channels > 0)
        for (int i = thread; i < here * taps; i += threads) {
            const int channel = i / taps, tap = i - channel * taps, r = tap / width, s = tap - r * width;
            lines[tap * channels + channel] = filter_value(
                a, a.filters.data + (first + channel) * a.filters.output_stride, tap_place{r, s, 0});
        }
    const epilogue<Out>& e = a.epilogue;
    for (int i = thread; i < here; i += threads) {
        const std::int64_t k = first + i;
        lines[taps * channels + i] = e.scale != nullptr ? static_cast<float>(e.scale[k * e.scale_stride]) : 1;
        lines[(taps + 1) * channels + i] =
            e.bias != nullptr ? static_cast<float>(e.bias[k * e.bias_stride]) : 0;
    }
}

/// Bit j: column j of a window from x on lies in the image.
template <class Shape>
__device__ unsigned columns_inside(std::int64_t x, std::int64_t spacing, std::int64_t width) {
    constexpr std::int64_t columns = Shape::columns;
    if constexpr (!Shape::is_any) {
        const auto begin = static_cast<unsigned>(::min(::max(-x, std::int64_t{0}), columns)),
                   end = static_cast<unsigned>(::min(::max(width - x, std::int64_t{0}), columns));
        return ((1U << end) - 1) & ~((1U << begin) - 1);
    } else {
        unsigned inside = 0;
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            const std::int64_t at = x + j * spacing;
            inside |= at >= 0 && at < width ? 1U << j : 0;
        }
        return inside;
    }
}

/// Zeros where a column is not inside, which are multiplied as pixels are.
template <class Shape>
__device__ void load(typename Shape::pixel (&columns)[Shape::columns], const typename Shape::In* from,
                     std::int64_t stride, unsigned inside) {
#pragma unroll
    for (int j = 0; j < Shape::columns; ++j) {
        columns[j] = {};
        if ((inside >> j & 1U) != 0)
            columns[j] = *reinterpret_cast<const typename Shape::pixel*>(from + j * stride);
    }
}

/// Adds the products of a row of the filter, whose first tap is at `taps`; the next is `pitch` further.
template <class Shape>
__device__ void add_products(typename Shape::values (&sums)[Shape::outputs],
                             const typename Shape::pixel (&columns)[Shape::columns], const float* taps,
                             int pitch) {
    using values = Shape::values;
    values inputs[Shape::columns];
#pragma unroll
    for (int j = 0; j < Shape::columns; ++j)
#pragma unroll
        for (int e = 0; e < Shape::packet; ++e) inputs[j][e] = static_cast<float>(columns[j][e]);
#pragma unroll
    for (int s = 0; s < Shape::taps; ++s) {
        const values tap = *reinterpret_cast<const values*>(taps + s * pitch);
#pragma unroll
        for (int w = 0; w < Shape::outputs; ++w)
#pragma unroll
            for (int e = 0; e < Shape::packet; ++e) sums[w][e] += inputs[w * Shape::step + s][e] * tap[e];
    }
}

template <class Shape, class In, class Out>
__device__ void add_window(typename Shape::values (&sums)[Shape::outputs], const arguments<In, Out>& a,
                           const window<In>& from, const float* taps, int pitch) {
    const conv_geometry& g = a.geometry;
    const auto row_of = [&](std::int64_t y) { return from.image + y * a.input.row_stride; };
    const auto is_row = [&](std::int64_t y) { return y >= 0 && y < a.input.height; };
    typename Shape::pixel columns[Shape::columns];
    if constexpr (!Shape::is_any) {
        const unsigned inside = columns_inside<Shape>(from.x, 1, a.input.width);
        constexpr int rows_under_way = Shape::taps == 3 ? 3 : 1;  // five would not fit the registers
#pragma unroll rows_under_way
        for (int r = 0; r < Shape::taps; ++r) {
            const std::int64_t y = from.y + r;
            load<Shape>(columns, row_of(y) + from.x * a.input.col_stride, a.input.col_stride,
                        is_row(y) ? inside : 0);
            add_products<Shape>(sums, columns, taps + r * Shape::taps * pitch, pitch);
        }
    } else {
        const int height = static_cast<int>(a.filters.height), width = static_cast<int>(a.filters.width);
        for (int r = 0; r < height; ++r)
            for (int s = 0; s < width; ++s) {
                const std::int64_t y = from.y + r * g.dilation.y, x = from.x + s * g.dilation.x;
                const unsigned inside = columns_inside<Shape>(x, g.stride.x, a.input.width);
                load<Shape>(columns, row_of(y) + x * a.input.col_stride, g.stride.x * a.input.col_stride,
                            is_row(y) ? inside : 0);
                add_products<Shape>(sums, columns, taps + (r * width + s) * pitch, pitch);
            }
    }
}

/// A call, as most are long; relu, the usual one, is not.
template <class Out>
__device__ __noinline__ float other_activation(matmul_activation activation, float x) {
    return activated<Out>(activation, x);
}

/// As store() of epilogue.cuh, of a packet: `lines` has scale and, a pitch further, bias of its channels.
template <class Values, class In, class Out>
__device__ void store_packet(const arguments<In, Out>& a, const pixel_place& at, std::int64_t channel,
                             const Values& sum, const float* lines, int pitch) {
    constexpr int packet = sizeof(Values) / sizeof(float);
    using outputs = vector<Out, packet>;
    outputs& out = reinterpret_cast<outputs&>(element(a.output, at, channel));
    const epilogue<Out>& e = a.epilogue;
    Values x;
#pragma unroll
    for (int i = 0; i < packet; ++i) x[i] = a.alpha * sum[i];
    if (a.beta != 0.0f) {
        const outputs old = out;
#pragma unroll
        for (int i = 0; i < packet; ++i) x[i] += a.beta * static_cast<float>(old[i]);
    }
    if (!e.is_identity) {
        const Values scale = *reinterpret_cast<const Values*>(lines),
                     bias = *reinterpret_cast<const Values*>(lines + pitch);
#pragma unroll
        for (int i = 0; i < packet; ++i) {
            const float residual =
                e.residual.data != nullptr ? static_cast<float>(element(e.residual, at, channel + i)) : 0;
            const float before = x[i] * scale[i] + bias[i] + (e.residual_before_activation ? residual : 0);
            const float after = e.activation == matmul_activation::none ? before
                                : e.activation == matmul_activation::relu
                                    ? (before < 0 ? 0 : before)
                                    : other_activation<Out>(e.activation, before);
            x[i] = e.residual_before_activation ? after : after + residual;
        }
    }
    outputs stored;
#pragma unroll
    for (int i = 0; i < packet; ++i) stored[i] = static_cast<Out>(x[i]);
    out = stored;
}

template <class Shape, class In, class Out>
__global__ void __launch_bounds__(depthwise_threads, 2)
    depthwise(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ tile_counts tiles) {
    extern __shared__ float4 shared[];
    float* const lines = reinterpret_cast<float*>(shared);
    const int channels = static_cast<int>(blockDim.x) * Shape::packet;
    const int place = static_cast<int>(threadIdx.x) * Shape::packet;
    const float* const of_epilogue = lines + a.filters.height * a.filters.width * channels + place;

    for (std::int64_t first = std::int64_t{blockIdx.y} * channels; first < a.output.channels;
         first += std::int64_t{gridDim.y} * channels) {
        ptx::sync_threads();  // all have read the filters before
        stage(lines, a, first, channels);
        ptx::sync_threads();
        const std::int64_t channel = first + place;
        if (channel >= a.output.channels) continue;
        for (std::int64_t t = blockIdx.x; t < tiles.of_images; t += gridDim.x) {
            const std::int64_t rows = tiles.by_runs.quotient(t), image = tiles.by_rows.quotient(rows);
            const std::int64_t run = (t - rows * tiles.by_runs.divisor) * blockDim.y + threadIdx.y,
                               y = (rows - image * tiles.by_rows.divisor) * blockDim.z + threadIdx.z;
            const pixel_place at{image, y, run * Shape::outputs};
            if (y >= a.output.height || at.x >= a.output.width) continue;

            typename Shape::values sums[Shape::outputs] = {};
            if (a.filters.channels > 0)
                add_window<Shape>(sums, a, window_of(a, at, channel), lines + place, channels);
            const std::int64_t left = a.output.width - at.x;
#pragma unroll
            for (int w = 0; w < Shape::outputs; ++w)
                if (w < left) store_packet(a, {image, y, at.x + w}, channel, sums[w], of_epilogue, channels);
        }
    }
}

template <class In, class Out, int packet>
auto kernel_of(const depthwise_kernel& k) -> void (*)(arguments<In, Out>, tile_counts) {
    if (k.taps == 3)
        return k.step == 1 ? depthwise<shape<In, packet, 3, 1>, In, Out>
                           : depthwise<shape<In, packet, 3, 2>, In, Out>;
    if (k.taps == 5)
        return k.step == 1 ? depthwise<shape<In, packet, 5, 1>, In, Out>
                           : depthwise<shape<In, packet, 5, 2>, In, Out>;
    return depthwise<shape<In, packet, 1, 1>, In, Out>;
}

}  // namespace

plan plan_depthwise(const conv_problem& problem, const device_traits& device) {
    const depthwise_kernel kernel = depthwise_kernel_for(problem);
    const depthwise_tiling tiling = depthwise_tiling_of(problem, kernel, device);
    const std::int64_t across = std::min(tiling.chunks, max_grid_y);
    const std::int64_t wanted = divide_up(depthwise_blocks_per_sm * device.sm_count, across);
    return {.blocks = {std::min(problem.output.count * tiling.rows * tiling.runs, wanted), across},
            .threads = tiling.threads,
            .depthwise = kernel,
            .depthwise_rows = tiling.rows,
            .depthwise_runs = tiling.runs};
}

template <class In, class Out>
void launch_depthwise(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    const depthwise_kernel& k = plan.depthwise;
    const std::int64_t lines = a.filters.height * a.filters.width + 2;
    static_assert((depthwise_most_taps + 2) * depthwise_most_packets * depthwise_packet * sizeof(float) <=
                  48 * 1024);
    const launch_config config{
        .blocks = plan.blocks,
        .threads = plan.threads,
        .shared_bytes = static_cast<std::size_t>(lines * plan.threads.x * k.packet) * sizeof(float),
        .stream = stream};
    launch(config,
           k.packet == depthwise_packet ? kernel_of<In, Out, depthwise_packet>(k) : kernel_of<In, Out, 1>(k),
           a, tile_counts(a.output.count, plan.depthwise_rows, plan.depthwise_runs));
}

template void launch_depthwise(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
