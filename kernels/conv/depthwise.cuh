#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/device/index_division.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/ptx/predicated.cuh"
#include "kernels/device/vector.cuh"

#include <cstdint>
#include <limits>
#include <type_traits>

/// How a thread of `depthwise`, which goes down a strip of the output, loads input rows and stores a run of outputs.
namespace heddle::kernels::conv {

/// The strips, each `rows` rows of one run. Strips with the same rows are neighbours.
struct strip_counts {
    std::int64_t all;
    int rows;
    index_division by_strips, by_runs;  ///< strips of an image; runs of a row of strips

    __host__ strip_counts(std::int64_t images, const depthwise_tiling& t)
        : all(images * t.strips * t.runs),
          rows(t.rows),
          by_strips(t.strips, images * t.strips),
          by_runs(t.runs, all) {}
};

/// The outputs of one thread: a run and the runs below it.
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

/// The distances between pixels, in packets. Sums may wrap around, but offsets of pixels inside the image are right.
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

__device__ inline int clamped(int i, int most) {
    return ::min(::max(i, 0), most);
}

/// A mask: bit j says whether column x + j lies in the image.
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

/// The places of the input rows that a strip's windows meet, and which of their pixels lie in the image.
template <class Shape>
struct row_places {
    using bits = Shape::bits;
    static constexpr int columns = (Shape::outputs - 1) * Shape::step + Shape::side;

    const bits* pixels;
    packet_strides strides;
    std::uint32_t first;
    unsigned inside;  ///< bit j: column j lies in the image
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

    /// Calls function(column, is inside the image, address) for each column of a row.
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

/// Rows that are copied to shared memory some rows ahead. A thread copies what it reads itself, and waits for no other
/// thread. The destructor waits for all copies, because those of the next strip go to the same places.
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

    /// Gets the next row, with zeros outside of the image.
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
            ptx::cp_async<4>(mine_ + (copied_ * columns + j) * depthwise_threads, from, is_inside ? 4 : 0);
        });
        ptx::cp_async_commit_group();
        ++row_;
        copied_ = copied_ + 1 < stages ? copied_ + 1 : 0;
    }

    const row_places<Shape>& places_;
    std::uint32_t* mine_;
    int row_ = 0, copied_ = 0, taken_ = 0;
};

/// For single elements of 16 bits, which such copies cannot move: loads one row ahead into registers.
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

inline constexpr float lowest = -std::numeric_limits<float>::infinity();

/// Stores a packet as store() of epilogue.cuh does. `lines` has scale and, `pitch` further, bias of its channels.
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

/// Stores a run of outputs, `place` packets after `to`. The usual epilogues are unrolled; the others are too long for that.
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
    const float least = is_relu ? 0 : lowest;
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

}  // namespace heddle::kernels::conv
