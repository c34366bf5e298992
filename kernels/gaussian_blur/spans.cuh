#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/words.cuh"
#include "kernels/frame/marching_warp.cuh"
#include "kernels/gaussian_blur/bytes.cuh"
#include "kernels/gaussian_blur/plan/small_windows.hpp"
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cstdint>

/// The rows of a strip of mma_x_registers_y, step by step: how they are copied, and how results are stored.
namespace heddle::kernels::gaussian_blur::spans {

inline constexpr int warp_threads = 32;

using tile = span_tile;
using stage = span_stage;

template <int radius>
struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int x;  ///< in values
    int y;
    heddle::border border;
    int reach;
    int lead;  ///< values that are loaded before a warp's columns; `skip` of them are before the windows
    int skip;
    int strip_rows;
    float scale;  ///< of the sums along y
    int radius_y;
    float taps_y[2 * radius + 1];  ///< in the last places, after zeros
    mma_operand along_x;
};

/// Columns beyond the image's sides show other values of the window. A lane fills in one of a row, or none.
struct sides {
    static_assert(tile::rows * (tile::depth - tile::product_columns) <= warp_threads);
    bool are_any;
    bool fills;
    int to = 0;
    int from = 0;

    template <int radius>
    __device__ sides(const parameters<radius>& p, int begin, int values, int row_values, int lane) {
        const int first_at = p.x + begin - p.lead;
        const int own_row = lane % tile::rows, own = lane / tile::rows;
        const int left = ::max(0, p.reach - p.x - begin);
        const int right = ::max(0, p.x + begin + ::min(values, tile::columns) + p.reach - row_values);
        are_any = left + right > 0;
        fills = own < left + right;
        if (!fills) return;
        const int channels = static_cast<int>(p.source.first.channels);
        const int value = own < left ? own - left : row_values + own - left;
        const int pixel = (value + p.reach) / channels - p.reach / channels;
        const int width = static_cast<int>(p.source.first.width);
        const int seen =
            nearby_source_index(pixel, width, p.border) * channels + (value + p.reach) % channels;
        to = own_row * stage::pitch + value - first_at;
        // If a warp begins inside of a pixel, mirrors of its other channels lie before the window. They have no weight.
        from = own_row * stage::pitch + ::max(seen - first_at, 0);
    }
    /// The lane's row lies `behind` bytes after its place.
    __device__ void fill_in(std::uint8_t* rows, int behind) const {
        if (fills) rows[to + behind] = rows[from + behind];
    }
};

/// A lane's copies of the rows of a step, from value `first_at` on.
template <bool aligned>
__device__ auto copies_of(std::uint8_t* stages, const std::uint8_t* const* lines, const unsigned* heads,
                          int first_at, int row_values, int lane) {
    if constexpr (aligned)
        return frame::row_copies<stage>(stages, lines, first_at, row_values, lane % tile::rows,
                                        lane / tile::rows);
    else
        return frame::word_copies<stage>(stages, lines, heads, first_at, row_values, lane);
}

template <bool aligned>
__device__ unsigned read_word(const std::uint8_t* from, int behind) {
    const auto* const words = reinterpret_cast<const unsigned*>(from);
    return aligned ? words[0] : word_behind(words[0], words[1], behind);
}

/// Stores two neighbours of each product to a row of a whole strip that begins at an odd address. A lane stores its second
/// values together with the first ones of the lane that has the next columns.
__device__ inline void store_odd_pairs(std::uint8_t* out, const std::uint16_t (&pairs)[tile::products],
                                       int lane) {
    const int next = lane + tile::spans < warp_threads ? lane + tile::spans : (lane + 1) % tile::spans;
    const bool is_last = lane == warp_threads - 1;  // then the next values are those of another product
    unsigned others[tile::products];
#pragma unroll
    for (int i = 0; i < tile::products; ++i) others[i] = __shfl_sync(~0u, pairs[i], next);
    if (lane == 0) out[0] = static_cast<std::uint8_t>(pairs[0]);
#pragma unroll
    for (int i = 0; i < tile::products; ++i) {
        std::uint8_t* const to = out + i * tile::product + 1;
        const bool ends_strip = is_last && i + 1 == tile::products;
        const unsigned other = is_last && i + 1 < tile::products ? others[i + 1] : others[i];
        if (ends_strip)
            *to = static_cast<std::uint8_t>(pairs[i] >> 8);
        else
            *reinterpret_cast<std::uint16_t*>(to) =
                static_cast<std::uint16_t>(__byte_perm(pairs[i], other, 0x0041));
    }
}

/// Stores two neighbours of each product. From the first of them on, the row has `valid` values.
template <bool aligned>
__device__ void store_pairs(std::uint8_t* out, const std::uint16_t (&pairs)[tile::products], bool is_whole,
                            int valid, int lane) {
    if (!aligned && is_whole && reinterpret_cast<std::uintptr_t>(out) % 2 != 0) {
        store_odd_pairs(out, pairs, lane);
    } else if (is_whole) {
#pragma unroll
        for (int i = 0; i < tile::products; ++i)
            *reinterpret_cast<std::uint16_t*>(out + i * tile::product) = pairs[i];
    } else {
#pragma unroll
        for (int i = 0; i < tile::products; ++i) {
            const int left = valid - i * tile::product;
            std::uint8_t* const to = out + i * tile::product;
            if (left > 0) to[0] = static_cast<std::uint8_t>(pairs[i]);
            if (left > 1) to[1] = static_cast<std::uint8_t>(pairs[i] >> 8);
        }
    }
}

}  // namespace heddle::kernels::gaussian_blur::spans
