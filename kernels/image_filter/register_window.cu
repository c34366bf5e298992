// register_window: reads and writes each value once. A warp marches down a strip of the image, and registers keep the
// results along x of the last two rows.
//
//   lanes       0      1       2      ...     30     31      a lane: 4 neighbouring values of a row
//   loads     [....] [....]  [....]   ...   [....] [....]    lanes 0 and 31 only load, for their neighbours
//   row y+1     along x: values of this lane, and of its neighbours by shuffles, `channels` values apart
//   row y       out = along y of the results of rows y - 1, y, y + 1; lanes 1 to 30 store it
//
// One instruction loads four values, and each value is loaded once, where `naive` loads it nine times. No value passes
// through shared memory. The pixel that stands for one outside of the image lies at an offset that the launcher computes.
// Warps of a block lie side by side and march a few rows only. So all warps together sweep over the image from top to
// bottom, as a copy does; longer marches are slower. The rows and columns that warps share come from L2. Takes any shape
// and alignment, with rows of up to 2^29 values, and uses vector loads and stores where rows are aligned. What limits it:
// DRAM, or for uint8 the latency and the instructions of a row.

#include "kernels/device/border.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.hpp"
#include "kernels/image_filter/launch.hpp"
#include "kernels/image_filter/stencil.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::image_filter {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 4;
    static constexpr int warps = threads / warp_size;
    static constexpr int values = 4;                        ///< of a row that a lane has
    static constexpr int strip = values * (warp_size - 2);  ///< of a row that a warp stores
    static_assert(values >= 4, "the neighbours of 4 channels are in the lanes beside");

    /// Rows that a warp stores.
    static constexpr int least_rows = 2;
    static constexpr int most_rows = 8;

    static constexpr int ahead = 2;  ///< rows that are loaded before they are needed
};

/// A lane's values of a row in as few registers as possible: one instruction loads them.
template <class T>
struct alignas(tile::values * sizeof(T)) packed {
    static constexpr int bits = 8 * static_cast<int>(sizeof(T));
    static constexpr int per_word = 32 / bits;
    std::uint32_t words[tile::values / per_word] = {};

    /// Sets an element that is still 0.
    __device__ void set(int e, T value) { words[e / per_word] |= bits_of(value) << (e % per_word * bits); }
    __device__ float to_float(int e) const {
        const std::uint32_t word = words[e / per_word] >> (e % per_word * bits);
        if constexpr (std::is_same_v<T, float>)
            return __uint_as_float(word);
        else if constexpr (std::is_same_v<T, half>)
            return __half2float(__ushort_as_half(static_cast<unsigned short>(word)));
        else
            return static_cast<float>(static_cast<T>(word));
    }

  private:
    __device__ static std::uint32_t bits_of(T value) {
        if constexpr (std::is_same_v<T, float>)
            return __float_as_uint(value);
        else if constexpr (std::is_same_v<T, half>)
            return __half_as_ushort(value);
        else
            return value;
    }
};

/// A row or a column of the source, in steps from where the destination begins. It has its range, and the offsets from steps
/// outside of it to the steps that stand for them. An offset of 0 means the border's constant.
template <class Index>
struct line {
    Index begin;
    Index end;
    Index from_before = 0;
    Index from_behind = 0;

    /// The source has `size` pixels of `steps` steps each, and the destination begins at its pixel `at`.
    line(std::int64_t size, std::int64_t at, std::int64_t steps, border kind)
        : begin(static_cast<Index>(-at * steps)), end(static_cast<Index>((size - at) * steps)) {
        if (kind == border::constant) return;
        from_before = static_cast<Index>((source_index<std::int64_t>(-1, size, kind) + 1) * steps);
        from_behind = static_cast<Index>((source_index(size, size, kind) - size) * steps);
    }

    __device__ bool has(Index i) const { return i >= begin && i < end; }
    __device__ Index stand_in(Index i) const {
        return i < begin ? i + from_before : i >= end ? i + from_behind : i;
    }
};

template <class T>
struct parameters {
    const T* source;  ///< at the destination's first value
    float* destination;
    std::int64_t source_stride;
    std::int64_t destination_stride;
    std::int64_t source_image_stride;
    std::int64_t destination_image_stride;
    line<int> columns;
    line<std::int64_t> source_rows;
    /// The extents of the destination.
    int row_values;
    std::int64_t rows;
    int rows_per_warp;
    T border_value;
    bool aligned_loads;
    bool aligned_stores;
};

/// The results along x for a lane's values. Values `channels` away are its own or belong to the neighbouring lanes.
template <class Filter, int channels>
__device__ void filter_row(const float (&own)[tile::values], typename Filter::partial (&row)[tile::values]) {
    constexpr unsigned all = 0xffffffff;
    float window[tile::values + 2 * channels];
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        window[i] = __shfl_up_sync(all, own[tile::values - channels + i], 1);
        window[channels + tile::values + i] = __shfl_down_sync(all, own[i], 1);
    }
#pragma unroll
    for (int e = 0; e < tile::values; ++e) window[channels + e] = own[e];
#pragma unroll
    for (int e = 0; e < tile::values; ++e)
        row[e] = Filter::along_x(window[e], window[e + channels], window[e + 2 * channels]);
}

template <class T, class Filter, int channels>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    register_window(const __grid_constant__ parameters<T> p) {
    using partial = typename Filter::partial;
    using loaded = packed<T>;
    constexpr int ahead = tile::ahead;

    const int lane = static_cast<int>(threadIdx.x);
    const auto strip = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
    const int x = strip * tile::strip + (lane - 1) * tile::values;
    const std::int64_t top = (std::int64_t{blockIdx.y} * blockDim.z + threadIdx.z) * p.rows_per_warp;
    if (top >= p.rows) return;
    const int outputs = static_cast<int>(min(std::int64_t{p.rows_per_warp}, p.rows - top));
    const bool stores = lane > 0 && lane < warp_size - 1 && x < p.row_values;

    // The elements of a row that stand for this lane's values, counted from the destination's first element.
    const bool is_plain = p.aligned_loads && p.columns.has(x) && p.columns.has(x + tile::values - 1);
    int columns[tile::values];
#pragma unroll
    for (int e = 0; e < tile::values; ++e) columns[e] = p.columns.stand_in(x + e);

    const T* source = p.source + blockIdx.z * p.source_image_stride;
    const auto load = [&](const T* row) {
        if (is_plain) return *reinterpret_cast<const loaded*>(row + x);
        loaded values;
#pragma unroll
        for (int e = 0; e < tile::values; ++e)
            values.set(e, p.columns.has(columns[e]) ? row[columns[e]] : p.border_value);
        return values;
    };
    const auto load_any = [&](std::int64_t y) {
        const std::int64_t row = p.source_rows.stand_in(y);
        if (p.source_rows.has(row)) return load(source + row * p.source_stride);
        loaded values;
#pragma unroll
        for (int e = 0; e < tile::values; ++e) values.set(e, p.border_value);
        return values;
    };
    const auto filter = [](const loaded& values, partial(&row)[tile::values]) {
        float own[tile::values];
#pragma unroll
        for (int e = 0; e < tile::values; ++e) own[e] = values.to_float(e);
        filter_row<Filter, channels>(own, row);
    };

    // The rows below are loaded a few ahead. All lie inside the image, except the last one at the image's end.
    const int inside = static_cast<int>(min(std::int64_t{outputs}, p.source_rows.end - 1 - top));
    const T* row = source + (top + 1) * p.source_stride;
    loaded next[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i, row += p.source_stride)
        if (i < inside) next[i] = load(row);

    partial above[tile::values], here[tile::values];
    filter(load_any(top - 1), above);
    filter(load_any(top), here);

    float* out = p.destination + blockIdx.z * p.destination_image_stride + top * p.destination_stride + x;
    const bool stores_vectors = p.aligned_stores && x + tile::values <= p.row_values;
    const auto store_row = [&](const loaded& values) {
        partial below[tile::values];
        filter(values, below);
        vector<float, tile::values> results;
#pragma unroll
        for (int e = 0; e < tile::values; ++e) {
            results[e] = Filter::along_y(above[e], here[e], below[e]);
            above[e] = here[e];
            here[e] = below[e];
        }
        if (stores && stores_vectors) {
            *reinterpret_cast<vector<float, tile::values>*>(out) = results;
        } else if (stores) {
#pragma unroll
            for (int e = 0; e < tile::values; ++e)
                if (x + e < p.row_values) out[e] = results[e];
        }
        out += p.destination_stride;
    };

    for (int done = 0; done < inside; done += ahead) {
#pragma unroll
        for (int i = 0; i < ahead; ++i) {
            if (done + i >= inside) break;
            const loaded current = next[i];
            if (done + i + ahead < inside) next[i] = load(row);
            row += p.source_stride;
            store_row(current);
        }
    }
    if (inside < outputs) store_row(load_any(top + outputs));
}

}  // namespace

plan plan_register_window(const problem& problem, const device_traits& device) {
    const std::int64_t strips = divide_up(problem.width * problem.channels, tile::strip);
    // Warps of a block lie side by side if the image is wide enough.
    int across = tile::warps;
    while (across / 2 >= strips) across /= 2;
    const int down = tile::warps / across;
    // In small images each warp has fewer rows, so that there are warps for the whole device.
    const std::int64_t images = std::min<std::int64_t>(problem.images, max_grid_y);
    const std::int64_t resident = std::int64_t{device.sm_count} * tile::blocks_per_sm * tile::warps;
    const std::int64_t wanted = problem.height * strips * images / resident;
    const std::int64_t least_for_grid = divide_up(problem.height, max_grid_y * down);
    const std::int64_t rows_per_warp =
        std::max(std::clamp<std::int64_t>(wanted, tile::least_rows, tile::most_rows), least_for_grid);
    return {.blocks = {divide_up(strips, across), divide_up(problem.height, rows_per_warp * down), images},
            .threads = {warp_size, across, down},
            .rows_per_warp = static_cast<int>(rows_per_warp),
            .aligned_loads = problem.has_source_quads,
            .aligned_stores = problem.has_destination_quads};
}

template <class T>
void launch_register_window(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const image_view<const T>& source = a.source.first;
    const image_view<float>& destination = a.destination.first;
    parameters<T> p{.source = source.data + a.y * source.row_stride + a.x * source.channels,
                    .destination = destination.data,
                    .source_stride = source.row_stride,
                    .destination_stride = destination.row_stride,
                    .source_image_stride = a.source.stride,
                    .destination_image_stride = a.destination.stride,
                    .columns = {source.width, a.x, source.channels, a.border},
                    .source_rows = {source.height, a.y, 1, a.border},
                    .row_values = static_cast<int>(destination.width * destination.channels),
                    .rows = destination.height,
                    .rows_per_warp = plan.rows_per_warp,
                    .border_value = a.border_value,
                    .aligned_loads = plan.aligned_loads,
                    .aligned_stores = plan.aligned_stores};
    const std::int64_t images = plan.blocks.z;
    for (std::int64_t done = 0; done < a.source.count; done += images) {
        const launch_config config{
            .blocks = {plan.blocks.x, plan.blocks.y, std::min(images, a.source.count - done)},
            .threads = plan.threads,
            .stream = stream};
        with_filter(a.stencil, [&]<class Filter>(Filter) {
            switch (source.channels) {
                case 1:
                    return launch(config, register_window<T, Filter, 1>, p);
                case 2:
                    return launch(config, register_window<T, Filter, 2>, p);
                case 3:
                    return launch(config, register_window<T, Filter, 3>, p);
                case 4:
                    return launch(config, register_window<T, Filter, 4>, p);
            }
        });
        p.source += images * p.source_image_stride;
        p.destination += images * p.destination_image_stride;
    }
}

template void launch_register_window(const plan&, const arguments<float>&, cudaStream_t);
template void launch_register_window(const plan&, const arguments<half>&, cudaStream_t);
template void launch_register_window(const plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_register_window(const plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::image_filter
