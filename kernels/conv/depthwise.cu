// depthwise: a filter for each channel. A thread has one channel, or a pair, of a run of outputs in a row, and goes down the image.
//
//   a row of the input    | 0 1 2 3 4 5 6 7 8 9 |    is read once, while rows before it are multiplied
//   taps 0, 1, 2            a b c                    output 0
//                             a b c                  output 1 ... 7
//
//   the output's rows     y      needs row 2 of the filter, and is complete
//   that the row meets    y + 1  needs row 1
//                         y + 2  needs row 0, and begins
//
// Sums of all these rows and all taps are in registers. An input element serves R S sums and no more, so memory is the limit.
// Neighbouring runs share pixels in L1. A block walks over strips with the filters of its channels. Places are of 32 bits: many
// images take several launches.
// Filters of 3 x 3 and 5 x 5 taps at steps of 1 and 2, and of 7 x 7, are compiled for; of others each tap loads its pixels anew.
// Needs one input and one output channel in each group, and few taps.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/conv/tuning/tuning.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/ptx/predicated.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::kernels::conv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Element, int packet_size, int filter_side, int window_step>
struct shape {
    using In = Element;
    static constexpr int packet = packet_size;
    static constexpr int side = filter_side;
    static constexpr int step = window_step;
    static constexpr bool is_any = side == 1;
    static constexpr int outputs = depthwise_outputs({packet, side, step});
    using bits = std::conditional_t<sizeof(In) * packet == 4, std::uint32_t, std::uint16_t>;  ///< of a pixel
    using values = vector<float, packet>;
};

/// Strips of `rows` rows and one run. Those of a row of strips are neighbours.
struct strip_counts {
    std::int64_t all;
    int rows;
    index_division by_strips, by_runs;  ///< of an image, and of a row of strips

    __host__ strip_counts(std::int64_t images, const depthwise_tiling& t)
        : all(images * t.strips * t.runs),
          rows(t.rows),
          by_strips(t.strips, images * t.strips),
          by_runs(t.runs, all) {}
};

/// Outputs of one thread: a run, and those below it.
struct strip_place {
    pixel_place first;
    int rows;
};

__device__ inline strip_place strip_of(const strip_counts& counts, std::int64_t i, int outputs,
                                       std::int64_t height) {
    const std::int64_t line = counts.by_runs.quotient(i), image = counts.by_strips.quotient(line);
    const std::int64_t run = i - line * counts.by_runs.divisor,
                       y = (line - image * counts.by_strips.divisor) * counts.rows;
    return {{image, y, run * outputs}, static_cast<int>(::min(height - y, std::int64_t{counts.rows}))};
}

/// How far apart pixels lie, in packets. Sums wrap around, and places of pixels of the image are right.
struct packet_strides {
    std::uint32_t image, row, col;

    template <class T>
    __device__ packet_strides(const tensor_view<T>& t, int packet)
        : image(narrow(t.image_stride / packet)),
          row(narrow(t.row_stride / packet)),
          col(narrow(t.col_stride / packet)) {}

    __device__ std::uint32_t place(const pixel_place& at, int packet) const {
        return narrow(at.image) * image + narrow(at.y) * row + narrow(at.x) * col + narrow(packet);
    }

  private:
    static __device__ std::uint32_t narrow(std::int64_t n) { return static_cast<std::uint32_t>(n); }
};

/// Shared memory: a line for each tap, then for scale and for bias, of the block's channels.
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

__device__ inline int clamped(int i, int most) {
    return ::min(::max(i, 0), most);
}

/// Bit j: column j of those from x on lies in the image.
template <int columns>
__device__ unsigned columns_inside(int x, int width) {
    return ((1U << clamped(width - x, columns)) - 1) & ~((1U << clamped(-x, columns)) - 1);
}

template <class Shape>
__device__ typename Shape::values widened(typename Shape::bits bits) {
    const auto pixel = __builtin_bit_cast(vector<typename Shape::In, Shape::packet>, bits);
    typename Shape::values values;
#pragma unroll
    for (int e = 0; e < Shape::packet; ++e) values[e] = static_cast<float>(pixel[e]);
    return values;
}

template <int packet>
__device__ void add_product(vector<float, packet>& sum, const vector<float, packet>& x,
                            const vector<float, packet>& tap) {
#pragma unroll
    for (int e = 0; e < packet; ++e) sum[e] += x[e] * tap[e];
}

/// As store() of epilogue.cuh, of a packet. `lines` has scale and, a pitch further, bias of its channels.
template <class Values, class In, class Out>
__device__ void store_packet(const arguments<In, Out>& a, const pixel_place& at, std::int64_t channel,
                             const Values& sum, const float* lines, int pitch) {
    constexpr int packet = sizeof(Values) / sizeof(float);
    using pixel = vector<Out, packet>;
    pixel& out = reinterpret_cast<pixel&>(element(a.output, at, channel));
    const epilogue<Out>& e = a.epilogue;
    const Values scale = *reinterpret_cast<const Values*>(lines),
                 bias = *reinterpret_cast<const Values*>(lines + pitch);
    const pixel old = a.beta != 0 ? out : pixel{};
    pixel stored;
#pragma unroll
    for (int i = 0; i < packet; ++i) {
        float x = a.alpha * sum[i];
        if (a.beta != 0) x += a.beta * static_cast<float>(old[i]);
        if (!e.is_identity) {
            const float residual =
                e.residual.data != nullptr ? static_cast<float>(element(e.residual, at, channel + i)) : 0;
            x = x * scale[i] + bias[i] + (e.residual_before_activation ? residual : 0);
            x = activated<Out>(e.activation, x) + (e.residual_before_activation ? 0 : residual);
        }
        stored[i] = static_cast<Out>(x);
    }
    out = stored;
}

/// A run of outputs, `place` packets behind `to`. What most convolutions end with is unrolled; the rest is too long for that.
template <class Shape, class Place, class In, class Out>
__device__ void store_run(const arguments<In, Out>& a, const pixel_place& at, std::int64_t channel, Out* to,
                          Place place, const typename Shape::values (&sums)[Shape::outputs],
                          const float* lines, int pitch) {
    using values = Shape::values;
    const epilogue<Out>& e = a.epilogue;
    using packet = vector<Out, Shape::packet>;
    packet* const first = reinterpret_cast<packet*>(to);
    const auto col = static_cast<Place>(a.output.col_stride / Shape::packet);
    const int count = static_cast<int>(::min(a.output.width - at.x, std::int64_t{Shape::outputs}));
    const bool is_relu = e.activation == matmul_activation::relu;
    if (a.beta != 0 || e.residual.data != nullptr || (!is_relu && e.activation != matmul_activation::none)) {
        values copies[Shape::outputs];
#pragma unroll
        for (int w = 0; w < Shape::outputs; ++w) copies[w] = sums[w];
#pragma unroll 1
        for (int w = 0; w < count; ++w)
            store_packet(a, {at.image, at.y, at.x + w}, channel, copies[w], lines, pitch);
        return;
    }
    const float least = is_relu ? 0 : -infinity;
    const values scale = *reinterpret_cast<const values*>(lines),
                 bias = *reinterpret_cast<const values*>(lines + pitch);
#pragma unroll
    for (int w = 0; w < Shape::outputs; ++w) {
        packet stored;
#pragma unroll
        for (int i = 0; i < Shape::packet; ++i)
            stored[i] = static_cast<Out>(ptx::max_nan(a.alpha * sums[w][i] * scale[i] + bias[i], least));
        ptx::store_if(w < count, first + place, stored);
        place += col;
    }
}

/// Where the rows lie that a strip's windows meet, and which of their pixels are of the image.
template <class Shape>
struct row_places {
    using bits = Shape::bits;
    static constexpr int columns = (Shape::outputs - 1) * Shape::step + Shape::side;

    const bits* pixels;
    packet_strides strides;
    std::uint32_t first;
    unsigned inside;  ///< bit j: column j
    int first_row;
    unsigned rows_inside;

    template <class In, class Out>
    __device__ row_places(const arguments<In, Out>& a, const strip_place& strip, int channel)
        : pixels(reinterpret_cast<const bits*>(a.input.data)), strides(a.input, Shape::packet) {
        const pixel_place from{strip.first.image, strip.first.y * Shape::step - a.geometry.padding.top,
                               strip.first.x * Shape::step - a.geometry.padding.left};
        first = strides.place(from, channel / Shape::packet);
        const int x = static_cast<int>(from.x), y = static_cast<int>(from.y),
                  rows = (strip.rows - 1) * Shape::step + Shape::side;
        inside = a.filters.channels > 0 ? columns_inside<columns>(x, static_cast<int>(a.input.width)) : 0;
        first_row = clamped(-y, rows);
        rows_inside = static_cast<unsigned>(clamped(static_cast<int>(a.input.height) - y, rows) - first_row);
    }

    /// function(column, whether it has a pixel, where) of a row.
    template <class Function>
    __device__ void for_each(int row, const Function& function) const {
        const unsigned here = static_cast<unsigned>(row - first_row) < rows_inside ? inside : 0;
        std::uint32_t at = first + unsigned(row) * strides.row;
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            function(j, (here >> j & 1U) != 0, pixels + at);
            at += strides.col;
        }
    }
};

/// Rows on their way to shared memory, some ahead. A thread copies what it reads itself, and waits for no other. Copies have all
/// arrived where its life ends: those of the next strip go to the same places.
template <class Shape>
class copied_rows {
  public:
    static constexpr int columns = row_places<Shape>::columns, stages = columns <= 8 ? 4 : 3;
    static constexpr int words = stages * columns * static_cast<int>(depthwise_threads);

    __device__ copied_rows(const row_places<Shape>& places, std::uint32_t* shared)
        : places_(places), mine_(shared + threadIdx.y * blockDim.x + threadIdx.x) {
        for (int row = 0; row < stages - 1; ++row) copy();
    }
    __device__ ~copied_rows() { ptx::cp_async_wait_group<0>(); }
    copied_rows(const copied_rows&) = delete;
    copied_rows& operator=(const copied_rows&) = delete;

    /// The next row. Zeros where there is no pixel, which are multiplied as pixels are.
    __device__ void take(typename Shape::values (&row)[columns]) {
        ptx::cp_async_wait_group<stages - 2>();
#pragma unroll
        for (int j = 0; j < columns; ++j)
            row[j] = widened<Shape>(mine_[(taken_ * columns + j) * depthwise_threads]);
        taken_ = taken_ + 1 < stages ? taken_ + 1 : 0;
        copy();
    }

  private:
    __device__ void copy() {
        places_.for_each(row_, [&](int j, bool is_inside, const typename Shape::bits* from) {
            ptx::cp_async_or_zeros<4>(mine_ + (copied_ * columns + j) * depthwise_threads, from, is_inside);
        });
        ptx::cp_async_commit_group();
        ++row_;
        copied_ = copied_ + 1 < stages ? copied_ + 1 : 0;
    }

    const row_places<Shape>& places_;
    std::uint32_t* mine_;
    int row_ = 0, copied_ = 0, taken_ = 0;
};

/// Rows of single elements of 16 bits, which such copies do not take: one ahead, in registers.
template <class Shape>
class loaded_rows {
  public:
    static constexpr int columns = row_places<Shape>::columns, words = 0;

    __device__ loaded_rows(const row_places<Shape>& places, std::uint32_t*) : places_(places) { load(); }

    __device__ void take(typename Shape::values (&row)[columns]) {
#pragma unroll
        for (int j = 0; j < columns; ++j) row[j] = widened<Shape>(pixels_[j]);
        load();
    }

  private:
    __device__ void load() {
        places_.for_each(row_++, [&](int j, bool is_inside, const typename Shape::bits* from) {
            pixels_[j] = is_inside ? *from : typename Shape::bits{};
        });
    }

    const row_places<Shape>& places_;
    typename Shape::bits pixels_[columns];
    int row_ = 0;
};

template <class Shape>
using input_rows =
    std::conditional_t<sizeof(typename Shape::bits) == 4, copied_rows<Shape>, loaded_rows<Shape>>;

/// Goes down a strip. `lines`: scale and bias of the thread's channels, `pitch` apart.
template <class Shape, class In, class Out>
__device__ void march(const arguments<In, Out>& a, const strip_place& strip, int channel,
                      const typename Shape::values (&taps)[Shape::side][Shape::side], const float* lines,
                      int pitch, std::uint32_t* shared) {
    using values = Shape::values;
    constexpr int columns = row_places<Shape>::columns;
    constexpr int open_rows =
        (Shape::side - 1) / Shape::step + 1;  // of the output, that a row of the input meets
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

/// Any filter: a row of the strip after the other, whose taps load their pixels.
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

/// Shared memory before the lines.
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
    const float* const of_thread = lines + threadIdx.x * Shape::packet;
    const float* const of_epilogue = of_thread + a.filters.height * a.filters.width * channels;

    for (std::int64_t first = std::int64_t{blockIdx.y} * channels; first < a.output.channels;
         first += std::int64_t{gridDim.y} * channels) {
        ptx::sync_threads();  // all have read the filters before
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
                        *reinterpret_cast<const values*>(of_thread + (r * Shape::side + s) * channels);
        }
        for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; i < strips.all;
             i += std::int64_t{gridDim.x} * blockDim.y) {
            const strip_place strip = strip_of(strips, i, Shape::outputs, a.output.height);
            if constexpr (Shape::is_any)
                walk<Shape>(a, strip, channel, of_thread, of_epilogue, channels);
            else
                march<Shape>(a, strip, static_cast<int>(channel), taps, of_epilogue, channels, rows);
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
    return {
        .blocks = {std::min(divide_up(tiling.images * tiling.strips * tiling.runs, tiling.threads.y), wanted),
                   across},
        .threads = tiling.threads,
        .depthwise = kernel,
        .depthwise_tiling = tiling};
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

template void launch_depthwise(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_depthwise(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
