// depthwise: one filter for each channel. A thread has one channel, or a pair, of a run of outputs in a row, and goes down
// the image.
//
//   a row of the input    | 0 1 2 3 4 5 6 7 8 9 |    is loaded once, while previous rows are multiplied
//   taps 0, 1, 2            a b c                    output 0
//                             a b c                  output 1 ... 7
//
//   output rows that      y      takes row 2 of the filter, and is complete
//   use this input row    y + 1  takes row 1
//                         y + 2  takes row 0, and begins
//
// Registers hold the sums of all these rows, and all taps. An input element contributes to only R S sums, so memory is the
// limit. Neighbouring runs share pixels in L1. A block walks over strips with the filters of its channels. Offsets have 32
// bits, so many images take several launches. Kernels are compiled for filters of 3 x 3 and 5 x 5 taps with steps of 1 and
// 2, and of 7 x 7. For other filters each tap loads its pixels again. Needs one input and one output channel in each
// group, and few taps.

#include "kernels/conv/depthwise.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/conv/plan/predict.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/predicated.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::conv {
namespace {

template <class Element, int packet_size, int filter_side, int window_step>
struct shape {
    using In = Element;
    static constexpr int packet = packet_size;
    static constexpr int side = filter_side;
    static constexpr int step = window_step;
    static constexpr bool is_any = side == 1;
    static constexpr int outputs = depthwise_outputs({packet, side, step});
    using bits = std::conditional_t<sizeof(In) * packet == 4, std::uint32_t, std::uint16_t>;  ///< of a packet
    using values = vector<float, packet>;
};

/// Fills shared memory: a line of the block's channels for each tap, then one for scale and one for bias.
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

template <int packet>
__device__ void add_product(vector<float, packet>& sum, const vector<float, packet>& x,
                            const vector<float, packet>& tap) {
#pragma unroll
    for (int e = 0; e < packet; ++e) sum[e] += x[e] * tap[e];
}

/// Goes down a strip. `lines` has scale and, `pitch` further, bias of the thread's channels.
template <class Shape, class In, class Out>
__device__ void march(const arguments<In, Out>& a, const strip_place& strip, int channel,
                      const typename Shape::values (&taps)[Shape::side][Shape::side], const float* lines,
                      int pitch, std::uint32_t* shared) {
    using values = Shape::values;
    constexpr int columns = row_places<Shape>::columns;
    constexpr int open_rows = (Shape::side - 1) / Shape::step + 1;  // output rows that use one input row
    constexpr int oldest = open_rows - 1;
    const row_places<Shape> places(a, strip, channel);
    input_rows<Shape> rows(places, shared);
    const packet_strides out(a.output, Shape::packet);
    std::uint32_t to = out.place(strip.first, channel / Shape::packet) - oldest * out.row;
    values sums[open_rows][Shape::outputs] = {};
    for (int complete = -oldest; complete < strip.rows; ++complete) {
#pragma unroll
        for (int open = oldest; open >= 0; --open)
#pragma unroll
            for (int w = 0; w < Shape::outputs; ++w) sums[open][w] = open > 0 ? sums[open - 1][w] : values{};
#pragma unroll
        for (int first = 0; first < Shape::step; ++first) {
            values row[columns];
            rows.take(row);
#pragma unroll
            for (int j = 0; j < columns; ++j)
#pragma unroll
                for (int r = first; r < Shape::side; r += Shape::step)
#pragma unroll
                    for (int w = 0; w < Shape::outputs; ++w)
                        if (const int s = j - w * Shape::step; s >= 0 && s < Shape::side)
                            add_product(sums[r / Shape::step][w], row[j], taps[r][s]);
        }
        if (complete >= 0)
            store_run<Shape>(a, {strip.first.image, strip.first.y + complete, strip.first.x}, channel,
                             a.output.data, to, sums[oldest], lines, pitch);
        to += out.row;
    }
}

/// Works for any filter: computes the rows of the strip one by one, and each tap loads its pixels.
template <class Shape, class In, class Out>
__device__ void walk(const arguments<In, Out>& a, const strip_place& strip, std::int64_t channel,
                     const float* taps, const float* lines, int pitch) {
    const conv_geometry& g = a.geometry;
    const int height = a.filters.channels > 0 ? static_cast<int>(a.filters.height) : 0,
              width = static_cast<int>(a.filters.width);
    for (int i = 0; i < strip.rows; ++i) {
        const pixel_place at{strip.first.image, strip.first.y + i, strip.first.x};
        const window<In> from = window_of(a, at, channel);
        typename Shape::values sums[Shape::outputs] = {};
        for (int r = 0; r < height; ++r)
            for (int s = 0; s < width; ++s) {
                const std::int64_t y = from.y + r * g.dilation.y, x = from.x + s * g.dilation.x;
                const bool is_row = y >= 0 && y < a.input.height;
                const auto tap =
                    *reinterpret_cast<const typename Shape::values*>(taps + (r * width + s) * pitch);
                const In* row = from.image + y * a.input.row_stride;
#pragma unroll
                for (int w = 0; w < Shape::outputs; ++w) {
                    const std::int64_t column = x + w * g.stride.x;
                    typename Shape::bits pixel{};
                    ptx::load_if(
                        is_row && column >= 0 && column < a.input.width, pixel,
                        reinterpret_cast<const typename Shape::bits*>(row + column * a.input.col_stride));
                    add_product(sums[w], widened<Shape>(pixel), tap);
                }
            }
        store_run<Shape>(a, at, channel, &element(a.output, at, channel), std::int64_t{0}, sums, lines,
                         pitch);
    }
}

/// The words of shared memory in front of the lines.
template <class Shape>
constexpr int ring_words = Shape::is_any ? 0 : input_rows<Shape>::words;

template <class Shape, class In, class Out>
__global__ void __launch_bounds__(depthwise_threads, 2)
    depthwise(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ strip_counts strips) {
    using values = Shape::values;
    extern __shared__ float4 shared[];
    [[maybe_unused]] std::uint32_t* const rows = reinterpret_cast<std::uint32_t*>(shared);
    float* const lines = reinterpret_cast<float*>(rows + ring_words<Shape>);
    const int channels = static_cast<int>(blockDim.x) * Shape::packet;
    const float* const thread_lines = lines + threadIdx.x * Shape::packet;
    const float* const epilogue_lines = thread_lines + a.filters.height * a.filters.width * channels;

    for (std::int64_t first = std::int64_t{blockIdx.y} * channels; first < a.output.channels;
         first += std::int64_t{gridDim.y} * channels) {
        ptx::sync_threads();  // all have read the previous filters
        stage(lines, a, first, channels);
        ptx::sync_threads();
        const std::int64_t channel = first + threadIdx.x * Shape::packet;
        if (channel >= a.output.channels) continue;

        [[maybe_unused]] values taps[Shape::side][Shape::side] = {};
        if (!Shape::is_any && a.filters.channels > 0) {
#pragma unroll
            for (int r = 0; r < Shape::side; ++r)
#pragma unroll
                for (int s = 0; s < Shape::side; ++s)
                    taps[r][s] =
                        *reinterpret_cast<const values*>(thread_lines + (r * Shape::side + s) * channels);
        }
        for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; i < strips.all;
             i += std::int64_t{gridDim.x} * blockDim.y) {
            const strip_place strip = strip_of(strips, i, Shape::outputs, a.output.height);
            if constexpr (Shape::is_any)
                walk<Shape>(a, strip, channel, thread_lines, epilogue_lines, channels);
            else
                march<Shape>(a, strip, static_cast<int>(channel), taps, epilogue_lines, channels, rows);
        }
    }
}

template <class In, class Out>
struct compiled {
    void (*kernel)(arguments<In, Out>, strip_counts);
    std::int64_t ring_words;

    template <class Shape>
    static compiled of() {
        constexpr std::int64_t taps = Shape::is_any ? depthwise_most_taps : Shape::side * Shape::side,
                               lines =
                                   (taps + depthwise_epilogue_lines) * depthwise_most_lanes * Shape::packet;
        static_assert((conv::ring_words<Shape> + lines) * sizeof(float) <= 48 * 1024);
        return {depthwise<Shape, In, Out>, conv::ring_words<Shape>};
    }
};

template <class In, class Out, int packet>
compiled<In, Out> compiled_for(const depthwise_kernel& k) {
    using compiled = compiled<In, Out>;
    if constexpr (packet == 1)
        if (k.side == 7) return compiled::template of<shape<In, packet, 7, 1>>();
    if (k.side == 3)
        return k.step == 1 ? compiled::template of<shape<In, packet, 3, 1>>()
                           : compiled::template of<shape<In, packet, 3, 2>>();
    if (k.side == 5)
        return k.step == 1 ? compiled::template of<shape<In, packet, 5, 1>>()
                           : compiled::template of<shape<In, packet, 5, 2>>();
    return compiled::template of<shape<In, packet, 1, 1>>();
}

template <class In, class Out>
compiled<In, Out> compiled_for(const depthwise_kernel& k) {
    if constexpr (sizeof(In) == 2)
        if (k.packet == 2) return compiled_for<In, Out, 2>(k);
    return compiled_for<In, Out, 1>(k);
}

}  // namespace

plan plan_depthwise(const conv_problem& problem, const device_traits& device) {
    const depthwise_kernel kernel = depthwise_kernel_for(problem);
    const depthwise_tiling tiling = depthwise_tiling_of(problem, kernel, device);
    const std::int64_t across = std::min(tiling.chunks, max_grid_y);
    const std::int64_t wanted = divide_up(depthwise_blocks_per_sm * device.sm_count, across);
    const auto blocks_of = [&](std::int64_t images) {
        return divide_up(images * tiling.strips * tiling.runs, tiling.threads.y);
    };
    constexpr std::int64_t slower_by_tap = 4;  // if no kernel is compiled for the filter
    const std::int64_t sums = tiling.rows * depthwise_outputs(kernel) * kernel.packet;
    return {.blocks = {std::min(blocks_of(tiling.images), wanted), across},
            .threads = tiling.threads,
            .depthwise = kernel,
            .depthwise_tiling = tiling,
            .us = predicted_us("depthwise", device,
                               {.bytes = tensor_bytes(problem),
                                .rounds = rounds_of(blocks_of(problem.output.count) * tiling.chunks, device),
                                .steps = static_cast<double>(problem.filters.height * problem.filters.width *
                                                             sums * (kernel.side > 1 ? 1 : slower_by_tap))})};
}

template <class In, class Out>
void launch_depthwise(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    const auto [kernel, ring_words] = compiled_for<In, Out>(plan.depthwise);
    const std::int64_t lines = a.filters.height * a.filters.width + depthwise_epilogue_lines,
                       words = ring_words + lines * plan.threads.x * plan.depthwise.packet;
    const depthwise_tiling& tiling = plan.depthwise_tiling;
    const launch_config config{.blocks = plan.blocks,
                               .threads = plan.threads,
                               .shared_bytes = static_cast<std::size_t>(words) * sizeof(float),
                               .stream = stream};
    for (std::int64_t first = 0; first < a.output.count; first += tiling.images) {
        arguments<In, Out> part = a;
        part.input.data += first * a.input.image_stride;
        part.output.data += first * a.output.image_stride;
        if (a.epilogue.residual.data != nullptr)
            part.epilogue.residual.data += first * a.epilogue.residual.image_stride;
        const std::int64_t images = std::min(tiling.images, a.output.count - first);
        launch(config, kernel, part, strip_counts(images, tiling));
    }
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_depthwise, plan, arguments)

}  // namespace heddle::kernels::conv
