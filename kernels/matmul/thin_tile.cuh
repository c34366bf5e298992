#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/tile_lines.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// The tiles of the rung `thin`: how A and B come into shared memory, and how C leaves it.
namespace heddle::kernels::matmul {

template <std::size_t row>
struct thin_tile {
    static constexpr thin_kernel of = thin_kernels[row];
    static constexpr int thread_m = of.thread_m;
    static constexpr int thread_n = of.thread_n;
    static constexpr int warps_across = of.warps_n;
    static constexpr int warp_m = 32 * thread_m;
    static constexpr int threads = of.warps_m * of.warps_n * 32;
    static constexpr int m = of.m();
    static constexpr int n = of.n();
    static constexpr int k = 16;
    static constexpr int stages = 3;
    static constexpr int blocks_per_sm = of.block().blocks_per_sm;
    static constexpr int gap = 4;  ///< keeps packets of neighbouring lines in different banks
    static constexpr int b_stride = n + gap;
    static constexpr int b_size = k * b_stride;
    static constexpr int c_size = std::max(m * (n + gap), n* m);
};

/// A's tile in shared memory: lines along k, or along m.
template <class Tile, bool k_major>
struct a_tile {
    static constexpr int lines = k_major ? Tile::m : Tile::k;
    static constexpr int length = k_major ? Tile::k : Tile::m;
    static constexpr int stride = k_major ? Tile::k + Tile::gap : Tile::m;
    static constexpr int size = lines * stride;
};

/// How the lines of C's tile run in shared memory: as those of C in memory, along n or along m.
template <class Tile, bool along_n>
struct c_tile {
    static constexpr int lines = along_n ? Tile::m : Tile::n;
    static constexpr int length = along_n ? Tile::n : Tile::m;
    static constexpr int stride = along_n ? Tile::n + Tile::gap : Tile::m;
    /// Neighbours along n lie in each other's place: tile_split.cuh says why.
    static __device__ int place(int line, int at) { return line * stride + (along_n ? at ^ 1 : at); }
};

/// Copies of tiles of `lines` lines of `length` neighbours, `width` at once. In memory lines begin `next` apart.
template <int lines, int length, int width, int line_stride, int stride, int threads>
struct tile_copies {
    static constexpr int across = length / width;  ///< copies of a line
    static constexpr int at_once = threads > across ? threads / across : 1;
    static constexpr int parts = across > threads ? across / threads : 1;
    static_assert(lines % at_once == 0 && (at_once * across) % threads == 0 && (width == 1 || stride == 1));

    static __device__ int line() { return static_cast<int>(threadIdx.x) / across; }
    static __device__ int at() { return static_cast<int>(threadIdx.x) % across * width; }
    /// Where in a tile the first copy of this thread begins.
    static __device__ std::int64_t first(std::int64_t next) { return line() * next + at(); }

    /// Starts them. What lies beyond `lines_left` and `length_left` becomes zero and is not read; is_full: nothing does.
    template <bool is_full>
    static __device__ void start(float* to, const float* from, std::int64_t next, std::int64_t lines_left,
                                 std::int64_t length_left) {
        const auto lines_inside = static_cast<int>(min(std::int64_t{lines}, lines_left)) - line();
        const auto inside = static_cast<int>(min(std::int64_t{length}, length_left)) - at();
        to += line() * line_stride + at() * stride;
#pragma unroll
        for (int down = 0; down < lines; down += at_once, from += at_once * next)
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                constexpr int step = threads * width, bytes = static_cast<int>(sizeof(float));
                const int count = down < lines_inside ? max(0, min(width, inside - part * step)) : 0;
                ptx::cp_async<width * bytes>(to + down * line_stride + part * step * stride,
                                             from + part * step, (is_full ? width : count) * bytes);
            }
    }
};

/// What the epilogue makes of four elements, so many rows and columns apart. It is a call, as it is long.
__device__ __noinline__ inline packet finished(const epilogue<float>& e, packet values, std::int64_t row,
                                               std::int64_t col, int down, int across, int count) {
    float x[4] = {values[0], values[1], values[2], values[3]};
    apply_to_elements(e, x, [&](int i) {
        return element_place{row + i * down, col + i * across, i < count};
    });
    return {x[0], x[1], x[2], x[3]};
}

/// Stores C's tile, whose sums lie in shared memory. A thread stores a packet of a line, which has whole ones, or one element of
/// each of four lines, as all lanes of a warp store neighbours.
template <class Tile, bool along_n, bool in_packets>
__device__ void store_by_packets_or_elements(const arguments& p, const matrix_view<float>& c,
                                             std::int64_t row, std::int64_t col, const float* sums) {
    using tile = c_tile<Tile, along_n>;
    constexpr int across = in_packets ? tile::length / 4 : tile::length;
    constexpr int quarter = tile::lines / 4;
    constexpr int groups = Tile::m * Tile::n / 4 / Tile::threads, together = 4;  // these wait for C together
    static_assert(groups % together == 0);
    constexpr int line_step = in_packets ? 0 : quarter, step = in_packets ? 1 : 0;  // between a thread's four
    constexpr int down = along_n ? line_step : step, right = along_n ? step : line_step;
    const std::int64_t lines_left = along_n ? c.rows - row : c.cols - col;
    const std::int64_t length_left = along_n ? c.cols - col : c.rows - row;
    const std::int64_t next = down * c.row_stride + right * c.col_stride;
#pragma unroll 1
    for (int first = 0; first < groups; first += together) {
        packet old[together] = {};
        const auto each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int index = static_cast<int>(threadIdx.x) + (first + i) * Tile::threads;
                const int line = index / across, at = index % across * (in_packets ? 4 : 1);
                if (line >= lines_left || at >= length_left) continue;
                const std::int64_t left = in_packets ? 4 : (lines_left - line + quarter - 1) / quarter;
                const int below = along_n ? line : at, beside = along_n ? at : line;
                float* const to = c.data + (row + below) * c.row_stride + (col + beside) * c.col_stride;
                function(i, line, at, row + below, col + beside, to,
                         static_cast<int>(min(std::int64_t{4}, left)));
            }
        };
        if (p.beta != 0)
            each([&](int i, int, int, std::int64_t, std::int64_t, const float* from, int count) {
                if (in_packets) {
                    old[i] = *reinterpret_cast<const packet*>(from);
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        if (e < count) old[i][e] = from[e * next];
                }
            });
        each([&](int i, int line, int at, std::int64_t of_row, std::int64_t of_col, float* to, int count) {
            packet x;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float sum = sums[tile::place(line + e * line_step, at + e * step)];
                x[e] = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * old[i][e];
            }
            if (!p.epilogue.is_identity) x = finished(p.epilogue, x, of_row, of_col, down, right, count);
            if (in_packets) {
                *reinterpret_cast<packet*>(to) = x;
            } else {
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    if (e < count) to[e * next] = x[e];
            }
        });
    }
}

/// The same, as the plan says: also packets and elements of lines that begin anywhere (tile_lines.cuh).
template <class Tile, bool along_n>
__device__ void store_tile(const arguments& p, const matrix_view<float>& c, std::int64_t row,
                           std::int64_t col, const float* sums, c_access of_c) {
    if (of_c == c_access::packets)
        store_by_packets_or_elements<Tile, along_n, true>(p, c, row, col, sums);
    else if (of_c == c_access::elements)
        store_by_packets_or_elements<Tile, along_n, false>(p, c, row, col, sums);
    else {
        using tile = c_tile<Tile, along_n>;
        tile_lines<float, 4, tile::lines, tile::length, along_n>(c, row, col, of_c == c_access::line)
            .template store<Tile::threads, 4>(p,
                                              [&](int line, int at) { return sums[tile::place(line, at)]; });
    }
}

}  // namespace heddle::kernels::matmul
