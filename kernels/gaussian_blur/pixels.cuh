#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/words.cuh"
#include "kernels/frame/marching_warp.cuh"
#include "kernels/gaussian_blur/bytes.cuh"
#include "kernels/gaussian_blur/plan/mma_xy_by_channel.hpp"
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cstdint>
#include <type_traits>

/// The rows of a strip of mma_xy_by_channel, step by step: how they are copied, split into channels, and stored.
namespace heddle::kernels::gaussian_blur::pixels {

inline constexpr int warp_threads = 32;

using tile = pixel_tile;

struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int x;
    int y;
    heddle::border border;
    int radius_x;
    int radius_y;
    int lead;  ///< bytes from the first packet to a warp's first column
    int skip;  ///< bytes of `lead` that lie before its windows
    int strip_rows;
    unsigned high_scale_x;  ///< 256 times the weights' multiplier, for sums of their high bytes
    unsigned low_scale_x;
    unsigned high_scale_y;
    unsigned low_scale_y;
    unsigned rounding_y;
    mma_operand along_x;
    mma_operand along_y;
};

/// Separates the channels of four pixels: each gets a register.
template <int channels>
__device__ void separate(const unsigned* pixels, unsigned (&separated)[channels]) {
    if constexpr (channels == 1) {
        separated[0] = pixels[0];
    } else if constexpr (channels == 2) {
        separated[0] = __byte_perm(pixels[0], pixels[1], 0x6420);
        separated[1] = __byte_perm(pixels[0], pixels[1], 0x7531);
    } else if constexpr (channels == 3) {
        separated[0] = __byte_perm(__byte_perm(pixels[0], pixels[1], 0x0630), pixels[2], 0x5210);
        separated[1] = __byte_perm(__byte_perm(pixels[0], pixels[1], 0x0741), pixels[2], 0x6210);
        separated[2] = __byte_perm(__byte_perm(pixels[0], pixels[1], 0x0052), pixels[2], 0x7410);
    } else {
        const unsigned a = __byte_perm(pixels[0], pixels[1], 0x5140);
        const unsigned b = __byte_perm(pixels[2], pixels[3], 0x5140);
        const unsigned c = __byte_perm(pixels[0], pixels[1], 0x7362);
        const unsigned d = __byte_perm(pixels[2], pixels[3], 0x7362);
        separated[0] = __byte_perm(a, b, 0x5410);
        separated[1] = __byte_perm(a, b, 0x7632);
        separated[2] = __byte_perm(c, d, 0x5410);
        separated[3] = __byte_perm(c, d, 0x7632);
    }
}

/// Eight neighbouring pixels of a row.
template <int channels>
struct octet {
    unsigned pairs[channels][2];

    /// Reads the pixels at `from` or, where rows are not aligned, `behind` bytes after it.
    template <bool aligned>
    __device__ void read(const std::uint8_t* from, int behind) {
        alignas(max_vector_bytes) unsigned words[2 * channels + 1];
        if constexpr (channels % 2 == 0) {
#pragma unroll
            for (int i = 0; i < channels / 2; ++i)
                reinterpret_cast<uint4*>(words)[i] = reinterpret_cast<const uint4*>(from)[i];
        } else {
#pragma unroll
            for (int i = 0; i < channels; ++i)
                reinterpret_cast<uint2*>(words)[i] = reinterpret_cast<const uint2*>(from)[i];
        }
        if constexpr (!aligned) {
            words[2 * channels] = reinterpret_cast<const unsigned*>(from)[2 * channels];
#pragma unroll
            for (int i = 0; i < 2 * channels; ++i) words[i] = word_behind(words[i], words[i + 1], behind);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            unsigned separated[channels];
            separate<channels>(words + half * channels, separated);
#pragma unroll
            for (int c = 0; c < channels; ++c) pairs[c][half] = separated[c];
        }
    }
};

/// Columns beyond the image's sides show other pixels of the window. A lane fills in one in every second row, or none.
template <int channels>
struct sides {
    using layout = pixel_layout<channels>;
    static constexpr int slots = 2 * tile::max_radius;
    static constexpr int rows_filled = warp_threads / slots;

    bool are_any;
    bool fills;
    int own_row;
    int to = 0;
    int from = 0;

    __device__ sides(const parameters& p, int begin, int width, int lane) {
        const int source_width = static_cast<int>(p.source.first.width);
        const int first_at = (p.x + begin) * channels - p.lead;
        const int left = ::max(0, p.radius_x - p.x - begin);
        const int right = ::max(0, p.x + begin + width + p.radius_x - source_width);
        are_any = left + right > 0;
        fills = lane % slots < left + right;
        own_row = lane / slots;
        if (fills) {
            const int pixel = lane % slots < left ? lane % slots - left : source_width + lane % slots - left;
            const int seen = nearby_source_index(pixel, source_width, p.border);
            to = own_row * layout::pitch + pixel * channels - first_at;
            from = own_row * layout::pitch + seen * channels - first_at;
        }
    }

    /// `lines` are those of the step's rows.
    template <bool aligned>
    __device__ void fill_in(std::uint8_t* rows_of_step, const std::uint8_t* const* lines) const {
        if (!fills) return;
        using unit = std::conditional_t<aligned, typename layout::unit_of_pixel, std::uint8_t>;
        constexpr int rows = tile::side / rows_filled, units = channels / static_cast<int>(sizeof(unit));
        int behind[rows] = {};
        if constexpr (!aligned) {
#pragma unroll
            for (int i = 0; i < rows; ++i) behind[i] = bytes_behind_word(lines[own_row + i * rows_filled]);
        }
        unit found[rows][units];
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int c = 0; c < units; ++c)
                found[i][c] = reinterpret_cast<const unit*>(rows_of_step + from + behind[i] +
                                                            i * rows_filled * layout::pitch)[c];
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int c = 0; c < units; ++c)
                reinterpret_cast<unit*>(rows_of_step + to + behind[i] + i * rows_filled * layout::pitch)[c] =
                    found[i][c];
    }
};

/// A lane's copies of the rows of a step, from byte `first_at` on. It copies the same packets of several rows or, where
/// rows are not aligned, words.
template <class Layout, bool aligned>
__device__ auto copies_of(std::uint8_t* stages, const std::uint8_t* const* lines, const unsigned* heads,
                          int first_at, int row_bytes, int lane) {
    if constexpr (aligned)
        return frame::row_copies<Layout>(stages, lines, first_at, row_bytes, lane / Layout::packets_at_once,
                                         lane % Layout::packets_at_once);
    else
        return frame::word_copies<Layout>(stages, lines, heads, first_at, row_bytes, lane);
}
/// Results pass through shared memory, so that rows are stored whole.
template <int channels>
struct row_stores {
    using layout = pixel_layout<channels>;

    const std::uint8_t* results;
    int row_bytes;
    int stored_row;
    int stored_at;
    bool stores_packets;
    int stored_at_once;
    std::int64_t stride;
    std::uint8_t* out;

    __device__ row_stores(const parameters& p, const std::uint8_t* of, int top, int begin, int width,
                          int lane)
        : results(of), row_bytes(width * channels) {
        stored_row = lane / layout::result_packets;
        stored_at = lane % layout::result_packets * layout::packet;
        stores_packets = stored_row < layout::rows_stored && stored_at < row_bytes;
        const int aligned = row_bytes | layout::packet;  // the last strip need not end with a packet
        stored_at_once = aligned & -aligned;
        stride = p.destination.first.row_stride;
        out = p.destination.first.data + blockIdx.z * p.destination.stride + (top + stored_row) * stride +
              begin * channels + stored_at;
        asm("" : "+l"(stride));  // kept in registers, as it is read often
    }

    /// Stores the first `count` rows of a step.
    template <class Unit>
    __device__ void store_by(int count, int lane) const {
        constexpr int bytes = static_cast<int>(sizeof(Unit));
        std::uint8_t* const first = out - stored_row * stride - stored_at;
#pragma unroll 1
        for (int row = 0; row < tile::side && row < count; ++row)
#pragma unroll 1
            for (int at = lane * bytes; at < row_bytes; at += warp_threads * bytes)
                *reinterpret_cast<Unit*>(first + row * stride + at) =
                    *reinterpret_cast<const Unit*>(results + row * layout::result_pitch + at);
    }
    __device__ void store(int count, int lane) {
        if (stored_at_once == layout::packet) {
            const std::uint8_t* const from = results + stored_row * layout::result_pitch + stored_at;
#pragma unroll
            for (int row = 0; row < tile::side; row += layout::rows_stored)
                if (stores_packets && row + stored_row < count)
                    *reinterpret_cast<uint4*>(out + row * stride) =
                        *reinterpret_cast<const uint4*>(from + row * layout::result_pitch);
        } else if (stored_at_once >= static_cast<int>(sizeof(unsigned))) {
            store_by<unsigned>(count, lane);
        } else {
            store_by<std::uint8_t>(count, lane);
        }
        out += tile::side * stride;
    }
};

/// The same for rows at any address: whole words of memory, and single bytes at both ends of a row. A lane stores every
/// fourth row: all of these lie equally many bytes behind a word.
template <int channels>
struct word_stores {
    using layout = pixel_layout<channels>;
    static constexpr int word = layout::word;
    static constexpr int rows_at_once = word, lanes = warp_threads / rows_at_once;
    static constexpr int copies =
        (layout::result_packets * layout::packet + lanes * word - 1) / (lanes * word);

    int own_row;
    int own_word;
    int words;   ///< whole words of a row
    int behind;  ///< bytes of a row before its first whole word
    bool has_single;
    int single_at;
    const std::uint8_t* results;
    std::int64_t stride;
    std::uint8_t* out;

    __device__ word_stores(const parameters& p, const std::uint8_t* of, int top, int begin, int width,
                           int lane)
        : own_row(lane / lanes), own_word(lane % lanes) {
        const int row_bytes = width * channels;
        results = of + own_row * layout::result_pitch;
        stride = p.destination.first.row_stride;
        out = p.destination.first.data + blockIdx.z * p.destination.stride + (top + own_row) * stride +
              begin * channels;
        behind = (word - bytes_behind_word(out)) % word;
        words = ::max(row_bytes - behind, 0) / word;
        has_single = own_word < row_bytes - words * word;
        single_at = own_word < behind ? own_word : own_word + words * word;
        asm("" : "+l"(stride));  // kept in registers, as it is read often
    }

    /// Stores the first `count` rows of a step.
    __device__ void store(int count, int) {
        const std::uint8_t* const own = results + own_word * word;
        const int next = behind > 0 ? word : 0;
#pragma unroll
        for (int row = 0; row < tile::side; row += rows_at_once) {
            if (row + own_row >= count) continue;
            std::uint8_t* const to = out + row * stride;
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                if (own_word + i * lanes >= words) continue;
                const std::uint8_t* const from = own + row * layout::result_pitch + i * lanes * word;
                *reinterpret_cast<unsigned*>(to + behind + (own_word + i * lanes) * word) =
                    word_behind(*reinterpret_cast<const unsigned*>(from),
                                *reinterpret_cast<const unsigned*>(from + next), behind);
            }
            if (has_single) to[single_at] = results[row * layout::result_pitch + single_at];
        }
        out += tile::side * stride;
    }
};

template <int channels, bool aligned>
using stores_of = std::conditional_t<aligned, row_stores<channels>, word_stores<channels>>;

}  // namespace heddle::kernels::gaussian_blur::pixels
