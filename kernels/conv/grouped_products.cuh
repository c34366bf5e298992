#pragma once

#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/grouped.hpp"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/vector.cuh"

#include <cstdint>

/// How `grouped` multiplies the data in shared memory: by tensor cores or by FMAs.
namespace heddle::kernels::conv {

struct grouped_tile {
    static constexpr int m = grouped_pixels;
    static constexpr int n = grouped_channels;
    static constexpr int threads = grouped_threads;
    static constexpr int warps = threads / 32;
    static constexpr int sums_pitch = grouped_pitch;
    static_assert(m == threads);
};

/// The work of a block, and its data in shared memory.
struct grouped_work {
    std::int64_t output;  ///< first of the slab
    int groups, pixels;   ///< in this slab and tile
    float* sums;
    const int* starts;  ///< offsets of the pixels' windows in the patch, in bytes
    unsigned char* patch;
    unsigned char* filters;
};

/// Calls function(output, term, from) for every `width`-th term of the slab's filters; neighbouring lanes get neighbours.
template <int width, class In, class Out, class Function>
__device__ void each_term(const arguments<In, Out>& a, const grouped_layout& l, const grouped_work& w,
                          Function function) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int taps = static_cast<int>(a.filters.width);
    for (int term = lane * width; term < l.depth; term += 32 * width) {
        const int tap = term / l.channels, r = tap / taps;
        const In* const from = a.filters.data + w.output * a.filters.output_stride +
                               r * a.filters.row_stride + (tap - r * taps) * a.filters.col_stride +
                               (term - tap * l.channels);
#pragma unroll 8
        for (int output = warp; output < w.groups * l.outputs; output += grouped_tile::warps)
            function(output, term, from + output * a.filters.output_stride);
    }
}

/// The offset of a tap in the patch, in bytes from the start of a window.
template <class In, class Out>
__device__ int tap_in_patch(const arguments<In, Out>& a, const grouped_layout& l, int r, int s) {
    return r * static_cast<int>(a.geometry.dilation.y) * l.patch_row +
           s * static_cast<int>(a.geometry.dilation.x) * l.patch_pitch;
}

/// Products of 16 pixels by 8 outputs by 16 terms. A group has `chunks` chunks of 8 outputs.
template <int chunks>
struct mma_products {
    static constexpr int fragments = chunks > 2 ? 2 : 4;  // of 16 pixels, which share loaded filters

    /// Stores a line of terms for each output, after a table of the offsets of all quads of terms.
    template <class In, class Out>
    static __device__ void load_filters(const arguments<In, Out>& a, const grouped_layout& l,
                                        const grouped_work& w, bool in_packets) {
        using quad = vector<In, 4>;
        auto* const places = reinterpret_cast<int*>(w.filters);
        auto* const lines = reinterpret_cast<In*>(places + 4 * l.steps);
        const int taps = static_cast<int>(a.filters.width), quads = l.channels / 4;
        for (int i = threadIdx.x; i < 4 * l.steps; i += grouped_tile::threads) {
            const int tap = i / quads, r = tap / taps;
            places[i] = 4 * i < l.depth ? tap_in_patch(a, l, r, tap - r * taps) +
                                              (i - tap * quads) * 4 * static_cast<int>(sizeof(In))
                                        : 0;
        }
        each_term<4>(a, l, w, [&](int output, int term, const In* from) {
            quad values;
            if (in_packets)
                values = *reinterpret_cast<const quad*>(from);
            else
#pragma unroll
                for (int i = 0; i < 4; ++i) values[i] = from[i];
            *reinterpret_cast<quad*>(lines + output * l.filter_pitch + term) = values;
        });
        // The last step is padded with zeros.
        for (int i = threadIdx.x; i < w.groups * l.outputs; i += grouped_tile::threads)
            for (int term = l.depth; term < 16 * l.steps; ++term) lines[i * l.filter_pitch + term] = In(0.0f);
    }

    template <class In, class Out>
    static __device__ void multiply(const arguments<In, Out>&, const grouped_layout& l,
                                    const grouped_work& w) {
        constexpr int item_pixels = 16 * fragments;
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        const int row = lane / 4, quad = lane % 4;
        const int* const places = reinterpret_cast<const int*>(w.filters);
        const In* const lines = reinterpret_cast<const In*>(places + 4 * l.steps);
        // The last step reads beyond a sum's terms, where the patch may be infinite.
        const unsigned last_mask = 16 * (l.steps - 1) + 4 * quad < l.depth ? ~0u : 0u;
        const int items = (w.pixels - 1) / item_pixels + 1;  // of a group
        for (int item = warp; item < w.groups * items; item += grouped_tile::warps) {
            const int group = item / items, first = (item - group * items) * item_pixels;
            float sums[fragments][chunks][4] = {};
            const unsigned char* from[fragments][2];
            const In* filter[chunks];
#pragma unroll
            for (int i = 0; i < fragments; ++i)
#pragma unroll
                for (int side = 0; side < 2; ++side)
                    from[i][side] = w.patch + w.starts[first + i * 16 + side * 8 + row] +
                                    group * l.channels * static_cast<int>(sizeof(In));
#pragma unroll
            for (int c = 0; c < chunks; ++c)  // repeats the last filter; those sums are dropped
                filter[c] = lines + 4 * quad +
                            (group * l.outputs + ::min(c * 8 + row, l.outputs - 1)) * l.filter_pitch;
            // A thread has four neighbours along k. The instruction permutes k, but equally for both operands.
            const auto add_step = [&](int step, unsigned mask) {
                const int place = places[4 * step + quad];
                unsigned windows[fragments][4];
#pragma unroll
                for (int i = 0; i < fragments; ++i)
#pragma unroll
                    for (int side = 0; side < 2; ++side) {
                        const uint2 values = *reinterpret_cast<const uint2*>(from[i][side] + place);
                        windows[i][side] = values.x & mask, windows[i][side + 2] = values.y & mask;
                    }
#pragma unroll
                for (int c = 0; c < chunks; ++c) {
                    const uint2 taps = *reinterpret_cast<const uint2*>(filter[c] + 16 * step);
#pragma unroll
                    for (int i = 0; i < fragments; ++i) ptx::mma<In>(sums[i][c], windows[i], taps.x, taps.y);
                }
            };
            for (int step = 0; step < l.steps - 1; ++step) add_step(step, ~0u);
            add_step(l.steps - 1, last_mask);
#pragma unroll
            for (int i = 0; i < fragments; ++i)
#pragma unroll
                for (int c = 0; c < chunks; ++c)
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        if (const int output = c * 8 + quad * 2 + e % 2; output < l.outputs)
                            w.sums[(first + i * 16 + e / 2 * 8 + row) * grouped_tile::sums_pitch +
                                   group * l.outputs + output] = sums[i][c][e];
        }
    }
};

/// Products by FMAs. A thread loads `width` neighbouring channels at once.
template <int width>
struct fma_products {
    static constexpr int pixels = 8, side = 4;  // of a thread: pixels and outputs

    /// Stores filters as floats, transposed: a line of outputs for each term. Each group begins with a new quad.
    template <class In, class Out>
    static __device__ void load_filters(const arguments<In, Out>& a, const grouped_layout& l,
                                        const grouped_work& w, bool) {
        const int group_outputs = (l.outputs + side - 1) / side * side;
        each_term<1>(a, l, w, [&](int output, int term, const In* from) {
            const int group = output / l.outputs;
            reinterpret_cast<float*>(
                w.filters)[term * l.filter_pitch + group * group_outputs + output - group * l.outputs] =
                static_cast<float>(*from);
        });
    }

    template <class In, class Out>
    static __device__ void multiply(const arguments<In, Out>& a, const grouped_layout& l,
                                    const grouped_work& w) {
        const int quads = (l.outputs + side - 1) / side, across = w.groups * quads;
        const int runs = (w.pixels - 1) / pixels + 1;
        for (int item = threadIdx.x; item < across * runs; item += grouped_tile::threads) {
            const int run = item / across, column = item - run * across, group = column / quads;
            const unsigned char* from[pixels];
#pragma unroll
            for (int i = 0; i < pixels; ++i)
                from[i] =
                    w.patch + w.starts[run * pixels + i] + group * l.channels * static_cast<int>(sizeof(In));
            const float* line = reinterpret_cast<const float*>(w.filters) + column * side;
            float sums[pixels][side] = {};
            for (int r = 0; r < static_cast<int>(a.filters.height); ++r)
                for (int s = 0; s < static_cast<int>(a.filters.width); ++s) {
                    const int tap = tap_in_patch(a, l, r, s);
                    for (int c = 0; c < l.channels; c += width) {
                        vector<In, width> x[pixels];
#pragma unroll
                        for (int i = 0; i < pixels; ++i)
                            x[i] = *reinterpret_cast<const vector<In, width>*>(
                                from[i] + tap + c * static_cast<int>(sizeof(In)));
#pragma unroll
                        for (int e = 0; e < width; ++e, line += l.filter_pitch) {
                            const auto by = *reinterpret_cast<const vector<float, side>*>(line);
#pragma unroll
                            for (int i = 0; i < pixels; ++i)
#pragma unroll
                                for (int k = 0; k < side; ++k)
                                    sums[i][k] += static_cast<float>(x[i][e]) * by[k];
                        }
                    }
                }
            const int first = (column - group * quads) * side;
#pragma unroll
            for (int i = 0; i < pixels; ++i) {
                float* const to =
                    w.sums + (run * pixels + i) * grouped_tile::sums_pitch + group * l.outputs + first;
                if (l.outputs % side == 0) {
                    *reinterpret_cast<float4*>(to) =
                        make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
                    continue;
                }
#pragma unroll
                for (int k = 0; k < side; ++k)
                    if (first + k < l.outputs) to[k] = sums[i][k];
            }
        }
    }
};

}  // namespace heddle::kernels::conv
