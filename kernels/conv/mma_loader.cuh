#pragma once

#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/device/ptx/cp_async.cuh"

#include <climits>
#include <cstdint>

/// How `mma_sync` and `register_tiled` load rows of windows and of filters into shared memory.
namespace heddle::kernels::conv {

/// A convolution whose sums are computed in steps of 128 bytes along k, which runs over taps and their channels.
struct step_geometry : geometry {
    int channels, taps;                ///< of a tap; in a row of a filter
    int next_r, next_s, next_channel;  ///< from a step's place to the next one's, without carries
    int steps;
    int last_parts;  ///< of 32 bytes in the last step

    template <class In, class Out, class Activation>
    __host__ explicit step_geometry(const arguments<In, Out, Activation>& a)
        : geometry(a),
          channels(static_cast<int>(a.filters.channels)),
          taps(static_cast<int>(a.filters.width)),
          next_r(terms_of<In> / channels / taps),
          next_s(terms_of<In> / channels % taps),
          next_channel(terms_of<In> % channels),
          steps(static_cast<int>((depth - 1) / terms_of<In>) + 1),
          last_parts(static_cast<int>((depth - 1) % terms_of<In> * std::int64_t{sizeof(In)} / 32) + 1) {}

    template <class In>
    static constexpr int terms_of = mma_row_bytes / static_cast<int>(sizeof(In));
};

/// The place of a block's tile. Blocks that run at the same time share windows.
template <class tile>
struct tile_place {
    unsigned group;
    std::int64_t pixel, output;  ///< the first of each
    int outputs;                 ///< outputs of the group from there on

    __device__ tile_place(const geometry& g, std::int64_t groups) {
        const unsigned group_tiles = (static_cast<unsigned>(g.outputs_of_a_group) - 1) / tile::n + 1,
                       across = group_tiles * static_cast<unsigned>(groups);
        const int first = static_cast<int>(blockIdx.x % group_tiles) * tile::n;
        group = blockIdx.x % across / group_tiles;
        pixel = std::int64_t{blockIdx.x / across} * tile::m;
        output = group * g.outputs_of_a_group + first;
        outputs = static_cast<int>(g.outputs_of_a_group) - first;
    }
};

/// The start of a window, relative to the input's first element. It may lie in the padding.
struct alignas(16) window_place {
    std::int64_t offset;
    int y, x;
};

template <class In, class Out, class Activation>
__device__ window_place window_place_of(const arguments<In, Out, Activation>& a, const pixel_place& at,
                                        std::int64_t group) {
    const window<In> from = window_of(a, at, group);
    return {from.image - a.input.data + from.y * a.input.row_stride + from.x * a.input.col_stride,
            static_cast<int>(from.y), static_cast<int>(from.x)};
}
/// A window that lies outside of any image.
__device__ inline window_place no_window() {
    return {0, INT_MIN, INT_MIN};
}

/// The place of a byte of a row of 128. Its 16-byte packets are swizzled: the eight rows that ldmatrix reads lie in
/// different banks.
__device__ inline unsigned char* swizzled(unsigned char* rows, int row, int byte) {
    return rows + row * mma_row_bytes + ((byte / 16 ^ row % 8) * 16 + byte % 16);
}

/// The loads of a thread: `copied` bytes of one tap, at the same place along k of several rows. Rows of windows come first,
/// then those of filters.
template <class tile, int copied, class In>
struct step_loader {
    static constexpr int across = mma_row_bytes / copied;
    static constexpr int together = tile::threads / across;  ///< rows that all threads load at once
    static constexpr int windows = tile::m / together, filters = tile::n / together;  ///< of a thread
    static_assert(tile::m % together == 0 && tile::n % together == 0);

    int line, column;  ///< row and place in bytes
    int r, s, channel;

    __device__ explicit step_loader(const geometry& g)
        : line(static_cast<int>(threadIdx.x) / across),
          column(static_cast<int>(threadIdx.x) % across * copied) {
        const tap_place at = g.place_of_tap(column / static_cast<int>(sizeof(In)));
        r = static_cast<int>(at.r), s = static_cast<int>(at.s), channel = static_cast<int>(at.channel);
    }

    __device__ void advance(const step_geometry& g) {
        channel += g.next_channel, s += g.next_s, r += g.next_r;
        if (channel >= g.channels) channel -= g.channels, ++s;
        if (s >= g.taps) s -= g.taps, ++r;
    }

    /// Calls function(i, rows, row, from, is_there) for one of `parts` parts of the thread's rows of a stage. The function
    /// stores `from`, or zeros if not is_there, to the thread's column of row `row` of `rows`. Filters begin tile::m times
    /// row_size after windows. `filter` points to the tile's first filter, and `outputs` of them belong to the group.
    template <int parts, int row_size, class Term, class Out, class Activation, class Function>
    __device__ void each(int part, Term* stage, const arguments<In, Out, Activation>& a,
                         const window_place* places, const In* filter, int outputs, Function function) const {
        const bool is_tap = r < static_cast<int>(a.filters.height);
        const int down = r * static_cast<int>(a.geometry.dilation.y),
                  right = s * static_cast<int>(a.geometry.dilation.x);
        const unsigned height = is_tap ? static_cast<unsigned>(a.input.height) : 0,
                       width = static_cast<unsigned>(a.input.width);
        const In* const tap_start =
            a.input.data + down * a.input.row_stride + right * a.input.col_stride + channel;
#pragma unroll
        for (int i = 0; i < windows; ++i) {
            if (i * parts / windows != part) continue;
            const int row = line + i * together;
            const auto from = __builtin_bit_cast(window_place, reinterpret_cast<const int4&>(places[row]));
            const bool is_in_column = static_cast<unsigned>(from.y + down) < height,
                       is_in_row = static_cast<unsigned>(from.x + right) < width;
            function(i, stage, row, tap_start + from.offset, is_in_column & is_in_row);
        }
        const int outputs_left = is_tap ? outputs - line : 0;
        const In* from = filter + r * a.filters.row_stride + s * a.filters.col_stride + channel +
                         line * a.filters.output_stride;
#pragma unroll
        for (int i = 0; i < filters; ++i, from += together * a.filters.output_stride)
            if (i * parts / filters == part)
                function(windows + i, stage + tile::m * row_size, line + i * together, from,
                         i * together < outputs_left);
    }
};

}  // namespace heddle::kernels::conv
