// fused tiles: tiles for small windows, whose warps do not march.
//
// A warp takes a tile of 8 rows, and has all of its loads under way at once. Blocks take the tiles in the order of memory,
// so that rows which tiles share are still in L1 and L2. No sum is carried from tile to tile, so the pass along y comes
// first. Along x, shuffles fetch the values of other lanes. The outermost lanes only lend theirs.
//
// It needs one radius, from 1 to max_tile_radius(), and a source whose rows start at multiples of packets. DRAM limits it.

#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/fused.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>

namespace heddle::kernels::gaussian_blur {

/// The shape of tiles, with all that is compiled in.
template <class T, int channels, int radius>
struct window_tile {
    static constexpr int size = static_cast<int>(sizeof(T));
    static constexpr int halo = radius * channels;
    static constexpr tile_shape shape{size, halo};
    static constexpr int rows = tile_shape::rows;
    static constexpr int warps = tile_shape::warps;
    static constexpr int inputs = rows + 2 * radius;
    static_assert(inputs <= 32, "a lane knows of one row where it lies");
    static constexpr int values = shape.values;
    static constexpr int lending_lanes = shape.lending_lanes;
    static constexpr int lead = shape.lead();
    static constexpr int window = shape.window();
    static constexpr int columns = shape.columns();

    /// Lanes at the source's right edge whose values are needed, but that have no whole packet. They are those that lend, as at
    /// the left edge, and the lane with the last pixels.
    static constexpr int right_lanes = lending_lanes + 1;
    static constexpr int packets_staged =
        std::max(inputs * right_lanes, tile_shape::lanes);  ///< or a row of results
};

/// `source` points to the source's own pixel (0, 0).
template <class T, int radius>
struct tile_parameters : batch_rows<T> {
    int row_values;
    int left;   ///< values of the source's row before the region
    int shift;  ///< values by which windows begin early, so that packets are aligned in the source
    int source_width;
    unsigned strips;
    unsigned segments;
    bool stores_packets;  ///< the destination's rows are whole packets, at multiples of their size
    heddle::border border;
    T border_value;
    float taps_x[2 * radius + 1];
    float taps_y[2 * radius + 1];
};

/// The pass along x. Shuffles fetch the values beyond a lane's own from other lanes.
template <class tile, int channels, int radius>
__device__ void filter_neighbours(const float (&own)[tile::values], const float* taps,
                                  float (&sums)[tile::values], int lane) {
#pragma unroll
    for (int at = -tile::halo; at < tile::values + tile::halo; ++at) {
        const int owner = (at + tile::lead) / tile::values - tile::lending_lanes;
        const float value = own[at - owner * tile::values];
        const float input = owner == 0 ? value : __shfl_sync(~0u, value, lane + owner);
        filter_row_input<tile, channels, radius>(at, input, taps, sums);
    }
}

/// Does both passes, and stores the results that lie in the destination, in packets or singly.
template <bool in_packets, int channels, class T, int radius, class packet>
__device__ void blur_tile(const packet* inputs, const tile_parameters<T, radius>& p, T* out, int begin,
                          int rows, packet* staged, int lane) {
    using tile = window_tile<T, channels, radius>;
    float sums[tile::values][2 * radius + 1] = {};
    const int own = begin + lane * tile::values;
    const bool is_column =
        lane >= tile::lending_lanes && lane < 32 - tile::lending_lanes && own < p.row_values;
    T* row = in_packets ? out + own : out;
#pragma unroll
    for (int i = 0; i < tile::inputs; ++i) {
        float complete[tile::values];
#pragma unroll
        for (int e = 0; e < tile::values; ++e)
            complete[e] = filter_column<radius>(inputs[i].get(e), p.taps_y, sums[e]);
        if (i < 2 * radius) continue;

        float means[tile::values];
        filter_neighbours<tile, channels, radius>(complete, p.taps_x, means, lane);
        const packet result = packet::from_floats(means);
        const bool is_row = i - 2 * radius < rows;
        if constexpr (in_packets) {
            if (is_row && is_column) store(row, result);
        } else {
            // The row passes through shared memory, so that a warp stores neighbours.
            ptx::sync_warp();
            staged[lane] = result;
            ptx::sync_warp();
            const int first = max(begin + tile::lead, 0);
            const int end = min(begin + tile::lead + tile::columns, p.row_values);
#pragma unroll 1
            for (int at = first + lane; is_row && at < end; at += 32)
                row[at] = reinterpret_cast<const T*>(staged)[at - begin];
        }
        row += p.destination_stride;
    }
}

/// The element of a source's row that stands for `value`, which may lie beyond the row's ends; -1: the border's constant.
/// It is 0 where `value` is so far out that nobody needs it.
template <class tile, int channels, class T, int radius>
__device__ int column_of(int value, const tile_parameters<T, radius>& p) {
    constexpr int shift = round_up(tile::lead, channels);  // keeps dividends from being negative
    if (value < -tile::halo || value >= p.source_width * channels + tile::halo) return 0;
    const int pixel =
        nearby_source_index((value + shift) / channels - shift / channels, p.source_width, p.border);
    return pixel < 0 ? -1 : pixel * channels + (value + shift) % channels;
}

/// Loads the inputs of `count` lanes from `first` on, whose values may lie beyond the source's edges. The whole warp shares
/// the work, and has all loads under way at once.
template <int count, int channels, class T, int radius, class packet>
__device__ void load_singly(packet* inputs, const tile_parameters<T, radius>& p, const T* source, int first,
                            int source_begin, std::int64_t row_of_lane, packet* staged, int* columns,
                            int lane) {
    using tile = window_tile<T, channels, radius>;
    constexpr int row = count * tile::values;
    constexpr int all = tile::inputs * row;
    ptx::sync_warp();  // the values staged before have been read
#pragma unroll
    for (int at = lane; at < row; at += 32)
        columns[at] = column_of<tile, channels>(source_begin + first * tile::values + at, p);
    ptx::sync_warp();
    constexpr int shares = (all + 31) / 32;
    T values[shares];
#pragma unroll
    for (int i = 0; i < shares; ++i) {
        const int at = min(lane + 32 * i, all - 1);
        const std::int64_t y = __shfl_sync(~0u, row_of_lane, at / row);
        const int column = columns[at % row];
        values[i] = y < 0 || column < 0 ? p.border_value : source[y * p.source_stride + column];
    }
#pragma unroll
    for (int i = 0; i < shares; ++i)
        if (lane + 32 * i < all) reinterpret_cast<T*>(staged)[lane + 32 * i] = values[i];
    ptx::sync_warp();
    if (lane >= first && lane < first + count) {
#pragma unroll
        for (int i = 0; i < tile::inputs; ++i) inputs[i] = staged[i * count + lane - first];
    }
}

template <class T, int channels, int radius>
__global__ void __launch_bounds__(32 * tile_shape::warps, tile_shape::blocks_per_sm)
    fused_tiles(const __grid_constant__ tile_parameters<T, radius> p) {
    using tile = window_tile<T, channels, radius>;
    using packet = packet<T, tile::values>;
    __shared__ packet staged_of[tile::warps][tile::packets_staged];
    __shared__ int columns_of[tile::warps][tile::right_lanes * tile::values];
    ptx::let_next_grid_begin();

    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x / 32), 0);
    // Tiles at the right, the left and the lower edge begin first: they take longest.
    const auto rotated = [](unsigned i, unsigned size) { return i == 0 ? size - 1 : i - 1; };
    const unsigned line = blockIdx.x / p.strips;
    const std::int64_t image = line < p.segments ? 0 : line / p.segments;
    const unsigned segment = rotated(line - static_cast<unsigned>(image) * p.segments, p.segments);
    const int strip = static_cast<int>(rotated(blockIdx.x - line * p.strips, p.strips));
    const std::int64_t top = std::int64_t{segment} * (tile::warps * tile::rows) + warp * tile::rows;
    if (top >= p.height) return;
    const int rows = static_cast<int>(min(std::int64_t{tile::rows}, p.height - top));
    const int begin =
        strip * tile::columns - tile::lead - p.shift;  // of the window, counted in the destination's row
    const int source_begin = p.left + begin;           // the same, counted in the source's row
    const int source_end = p.source_width * channels;
    const std::int64_t first_row = p.above + top - radius;
    const bool has_rows = first_row >= 0 && first_row + tile::inputs <= p.source_height;
    // Each lane looks up one row for the whole warp; -1: the border's constant, or a row that is not needed.
    const std::int64_t row_of_lane =
        lane < rows + 2 * radius ? nearby_source_index(first_row + lane, p.source_height, p.border) : -1;
    const T* source = p.source + image * p.source_image;
    T* out = p.destination + image * p.destination_image + top * p.destination_stride;
    packet* staged = staged_of[warp];
    int* columns = columns_of[warp];
    ptx::wait_for_grids_before();

    packet inputs[tile::inputs];
    const int own = source_begin + lane * tile::values;
    const T* from = source + own;
    const bool has_packet = own >= 0 && own + tile::values <= source_end;
    if (has_rows) {
#pragma unroll
        for (int i = 0; i < tile::inputs; ++i)
            if (has_packet)
                inputs[i] = *reinterpret_cast<const packet*>(from + (first_row + i) * p.source_stride);
    } else {
#pragma unroll
        for (int i = 0; i < tile::inputs; ++i) {
            const std::int64_t y = __shfl_sync(~0u, row_of_lane, i);
            if (y < 0)
                inputs[i].fill(p.border_value);
            else if (has_packet)
                inputs[i] = *reinterpret_cast<const packet*>(from + y * p.source_stride);
        }
    }
    if (source_begin < 0)
        load_singly<tile::lending_lanes, channels>(inputs, p, source, 0, source_begin, row_of_lane, staged,
                                                   columns, lane);
    if (source_begin + tile::window > source_end)
        load_singly<tile::right_lanes, channels>(inputs, p, source,
                                                 (source_end - source_begin) / tile::values, source_begin,
                                                 row_of_lane, staged, columns, lane);
    if (p.stores_packets)
        blur_tile<true, channels>(inputs, p, out, begin, rows, staged, lane);
    else
        blur_tile<false, channels>(inputs, p, out, begin, rows, staged, lane);
}

template <int channels, int radius, class T>
void launch_tiles(const fused_tiles_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    tile_parameters<T, radius> p{batch_rows<T>::of(a, 0),
                                 static_cast<int>(a.destination.first.width) * channels,
                                 static_cast<int>(a.x) * channels,
                                 plan.shift,
                                 static_cast<int>(a.source.first.width),
                                 static_cast<unsigned>(plan.tiles.strips),
                                 static_cast<unsigned>(plan.tiles.segments),
                                 plan.stores_packets,
                                 a.border,
                                 a.border_value,
                                 {},
                                 {}};
    for (int i = 0; i <= 2 * radius; ++i) {
        p.taps_y[i] = a.taps_y.table[i] * scale_of_first_pass<T>;
        p.taps_x[i] = a.taps_x.table[i] * scale_of_second_pass<T>;
    }
    launch_batch(plan.grid, a.destination.count, fused_tiles<T, channels, radius>, p, stream);
}

template <class T>
void launch_fused_tiles(const fused_tiles_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    with_channels(a.source.first.channels, [&]<int channels>() {
        constexpr int most = max_tile_radius(pixel_type_of<T>, channels);
        with_radius<1, most>(a.taps_x.radius,
                             [&]<int radius>() { launch_tiles<channels, radius>(plan, a, stream); });
    });
}

}  // namespace heddle::kernels::gaussian_blur
