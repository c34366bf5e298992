#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/words.cuh"

#include <cstdint>

/// A warp that marches down a strip of an image of bytes, some rows a step. It copies the rows itself, packet by packet, into a
/// ring of steps in shared memory. What a border shows above and below the image is found once, as the lines of a strip.
///
/// Lines that begin at any address are copied word by word, as the words lie in memory: each is then shifted by as many bytes
/// as it begins behind a word, and who reads it shifts it back. Bytes beside a line are never read. So a line's head, the bytes
/// before its first whole word, which no asynchronous copy can take, is read beforehand, of all lines of a strip.
namespace heddle::kernels::frame {

/// The start of what the border shows as row `line` of an image.
__device__ inline const std::uint8_t* start_of_line(const std::uint8_t* image, std::int64_t height,
                                                    std::int64_t row_stride, int line, border border) {
    return image + nearby_source_index(line, static_cast<int>(height), border) * row_stride;
}

/// The rows of a step as a lane copies them: some packets of one row, and the same packets of every `rows_at_once`-th row.
///
/// Shape says of a step how many `rows` it has, and of a row how many bytes a `packet` has, how many `packets` are copied, and
/// how many bytes, the `pitch`, lie from row to row of the ring. A warp takes rows_at_once x packets_at_once packets at once.
template <class Shape>
struct row_copies {
    static constexpr int copies = (Shape::packets + Shape::packets_at_once - 1) / Shape::packets_at_once;
    static constexpr bool has_ends = false;

    int own_packet;
    int own_at[copies];
    int own_bytes[copies];
    std::uint8_t* own_place;
    const std::uint8_t* const* next_line;

    /// Copies begin at byte `first_at` of lines that have `row_bytes`. What lies outside of a line becomes zeros; no packet
    /// lies across its start. The lane has this row and this packet of those that are taken at once.
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

    /// The next step's rows, to the ring's place `to`.
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
    /// Packets have a line's ends too.
    __device__ void load_ends(int, int) const {}
};

/// The word with a line's first byte, where it is not whole: what the line has of it, in its place.
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

/// The heads of a strip's lines, by the threads of the block that found those lines. They are for warps that copy lines from
/// their first words on.
__device__ inline void read_heads(unsigned* heads, const std::uint8_t* const* lines, int count,
                                  int row_bytes) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        heads[i] = head_of_line(lines[i], row_bytes);
}

/// The rows of a step as a lane copies them where lines begin at any address: some words of one row, and the same words of
/// every `rows_at_once`-th row. Byte i of a row of the ring is byte i - bytes_behind_word(line) of the window.
///
/// Shape says of a step how many `rows` it has, how many `words` of a row are copied, and how many bytes, the `pitch`, lie from
/// row to row of the ring. A warp takes rows_at_once rows at once.
template <class Shape>
struct word_copies {
    static constexpr int word = sizeof(unsigned), rows_at_once = 2, words_at_once = 32 / rows_at_once;
    static constexpr int copies = (Shape::words + words_at_once - 1) / words_at_once;

    int own_at;
    int row_bytes;
    unsigned whole_bytes;       ///< of a line, at which words begin that it has whole
    unsigned last_whole_bytes;  ///< the same for the lane's last copy; 0 where it would be of a word too many
    bool has_ends;              ///< of lines: then load_ends() comes before load()
    std::uint8_t* own_place;
    const std::uint8_t* const* next_line;
    const unsigned* next_head;

    /// Copies begin at byte `first_at` of lines that have `row_bytes`: a multiple of a word, less than words_at_once words
    /// before their first. Words of the ring that have nothing of a line are left as they are.
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

    /// The next step's rows, to the ring's place `to`.
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

    /// A lane for each of those rows copies the words with a line's first and last bytes, where they are not whole.
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
