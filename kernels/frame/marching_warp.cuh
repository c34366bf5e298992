#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/words.cuh"

#include <cstdint>

/// A warp that marches down a strip of an image of bytes, several rows a step. It copies the rows itself, packet by packet,
/// into a ring of steps in shared memory. The rows that the border shows above and below the image are found once, as the
/// lines of a strip. Lines that begin at any address are copied word by word, as the words lie in memory. So a line is
/// shifted by the number of bytes that it begins after the start of a word, and its reader shifts it back. Bytes beside a
/// line are never read. No asynchronous copy can take the head of a line, the bytes before its first whole word. So the
/// heads of all lines of a strip are read beforehand.
namespace heddle::kernels::frame {

/// The start of the row of the image that stands for row `line`, which may be in the border.
__device__ inline const std::uint8_t* start_of_line(const std::uint8_t* image, std::int64_t height,
                                                    std::int64_t row_stride, int line, border border) {
    return image + nearby_source_index(line, static_cast<int>(height), border) * row_stride;
}

/// The rows of a step as a lane copies them: some packets of one row, and the same packets of every `rows_at_once`-th row.
///
/// Shape has the `rows` of a step, the bytes of a `packet`, and the `packets` of a row. Rows of the ring lie `pitch` bytes
/// apart. A warp copies rows_at_once x packets_at_once packets at once.
template <class Shape>
struct row_copies {
    static constexpr int copies = (Shape::packets + Shape::packets_at_once - 1) / Shape::packets_at_once;
    static constexpr bool has_ends = false;

    int own_packet;
    int own_at[copies];
    int own_bytes[copies];
    std::uint8_t* own_place;
    const std::uint8_t* const* next_line;

    /// Copies begin at byte `first_at` of lines of `row_bytes` bytes. Bytes outside of a line become zeros; no packet crosses
    /// its start. own_row and packet are the lane's among those that are copied at once.
    __device__ row_copies(std::uint8_t* ring, const std::uint8_t* const* lines, int first_at, int row_bytes,
                          int own_row, int packet)
        : own_packet(packet) {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            const int at = first_at + (packet + i * Shape::packets_at_once) * Shape::packet;
            own_bytes[i] = at < 0 ? 0 : ::min(::max(row_bytes - at, 0), Shape::packet);
            own_at[i] = own_bytes[i] > 0 ? at : 0;
        }
        own_place = ring + own_row * Shape::pitch + packet * Shape::packet;
        next_line = lines + own_row;
    }

    /// Starts to copy the rows of the next step to offset `to` of the ring.
    __device__ void load(int to) {
#pragma unroll
        for (int row = 0; row < Shape::rows; row += Shape::rows_at_once) {
            const std::uint8_t* const line = next_line[row];
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                constexpr int step = Shape::packets_at_once * Shape::packet;
                if (own_packet + i * Shape::packets_at_once < Shape::packets)
                    ptx::cp_async<Shape::packet, ptx::cache::all_levels>(
                        own_place + to + row * Shape::pitch + i * step, line + own_at[i], own_bytes[i]);
            }
        }
        next_line += Shape::rows;
        ptx::cp_async_commit_group();
    }
    /// Does nothing: load() copies the ends of lines too.
    __device__ void load_ends(int, int) const {}
};

/// The bytes of a line before its first whole word, at their places in that word; 0 where the line begins with a whole
/// word.
__device__ inline unsigned head_of_line(const std::uint8_t* line, int row_bytes) {
    constexpr int word = sizeof(unsigned), byte_bits = 8;
    const int behind = bytes_behind_word(line);
    unsigned head = 0;
#pragma unroll
    for (int i = 1; i < word; ++i)
        if (behind > 0 && i >= behind && i - behind < row_bytes)
            head |= unsigned{line[i - behind]} << byte_bits * i;
    return head;
}

/// The block's threads read the heads of a strip's lines, each of lines that it found itself. For warps that copy lines
/// from their first words on.
__device__ inline void read_heads(unsigned* heads, const std::uint8_t* const* lines, int count,
                                  int row_bytes) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        heads[i] = head_of_line(lines[i], row_bytes);
}

/// The same where lines begin at any address: some words of one row, and the same words of every `rows_at_once`-th row.
/// Byte i of a row of the ring is byte i - bytes_behind_word(line) of the window.
///
/// Shape has the `rows` of a step and the `words` of a row. Rows of the ring lie `pitch` bytes apart. A warp copies
/// rows_at_once rows at once.
template <class Shape>
struct word_copies {
    static constexpr int word = sizeof(unsigned), rows_at_once = 2, words_at_once = 32 / rows_at_once;
    static constexpr int copies = (Shape::words + words_at_once - 1) / words_at_once;

    int own_at;
    int row_bytes;
    unsigned whole_bytes;       ///< a whole word of a line begins at a byte below this
    unsigned last_whole_bytes;  ///< the same for the lane's last copy; 0 if beyond the words of a row
    bool has_ends;              ///< whether there are ends of lines: then call load_ends() before load()
    std::uint8_t* own_place;
    const std::uint8_t* const* next_line;
    const unsigned* next_head;

    /// Copies begin at byte `first_at` of lines of `row_bytes` bytes. It is a multiple of a word, fewer than words_at_once
    /// words before the line's first. Words of the ring without bytes of a line stay unchanged.
    __device__ word_copies(std::uint8_t* ring, const std::uint8_t* const* lines, const unsigned* heads,
                           int first_at, int row_bytes, int lane)
        : row_bytes(row_bytes) {
        const int own_row = lane / words_at_once, own_word = lane % words_at_once;
        own_at = first_at + own_word * word;
        whole_bytes = static_cast<unsigned>(::max(row_bytes - word + 1, 0));
        last_whole_bytes = own_word + (copies - 1) * words_at_once < Shape::words ? whole_bytes : 0;
        has_ends = first_at <= 0 || first_at + Shape::words * word > row_bytes - word;
        own_place = ring + own_row * Shape::pitch + own_word * word;
        next_line = lines + own_row;
        next_head = heads + own_row;
    }

    /// Starts to copy the rows of the next step to offset `to` of the ring.
    __device__ void load(int to) {
#pragma unroll
        for (int row = 0; row < Shape::rows; row += rows_at_once) {
            const std::uint8_t* const line = next_line[row];
            const int own_byte = own_at - bytes_behind_word(line);
            const std::uint8_t* const from = line + own_byte;
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                constexpr int step = words_at_once * word;
                const bool is_whole = static_cast<unsigned>(own_byte + i * step) <
                                      (i + 1 < copies ? whole_bytes : last_whole_bytes);
                ptx::cp_async_if<word>(is_whole, own_place + to + row * Shape::pitch + i * step,
                                       from + i * step);
            }
        }
        next_line += Shape::rows;
        next_head += Shape::rows;
        ptx::cp_async_commit_group();
    }

    /// One lane for each row copies the first and the last word of a line, where they are not whole.
    __device__ void load_ends(int to, int lane) const {
        if (lane % words_at_once != 0) return;
#pragma unroll 1
        for (int row = 0; row < Shape::rows; row += rows_at_once) {
            const std::uint8_t* const line = next_line[row];
            const int behind = bytes_behind_word(line);
            const int tail_at = (row_bytes + behind) / word * word, tail_bytes = row_bytes + behind - tail_at;
            std::uint8_t* const place = own_place + to + row * Shape::pitch - own_at;
            if (behind > 0 && own_at <= 0) *reinterpret_cast<unsigned*>(place) = next_head[row];
            const bool is_head = behind > 0 && tail_at == 0;
            if (tail_bytes > 0 && !is_head && tail_at >= own_at && tail_at < own_at + Shape::words * word)
                ptx::cp_async<word>(place + tail_at, line - behind + tail_at, tail_bytes);
        }
    }
};

}  // namespace heddle::kernels::frame
