#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/words.cuh"
#include "kernels/gaussian_blur/plan/mma_xy.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include "kernels/gaussian_blur/whole_weights.hpp"
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cstdint>
#include <span>

/// The parameters and weights of mma_xy, the two warps of a block that load its rows, and the stores of results.
namespace heddle::kernels::gaussian_blur::squares {

using tile = square_tile;
inline constexpr int warp_threads = 32;

/// Barriers of a block. That of sync_threads() is 0.
inline constexpr int barrier_of_consumers = 1;
inline constexpr int barrier_of_loaders = 2;

struct parameters {
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    std::int64_t x;  ///< in values
    std::int64_t y;
    heddle::border border;
    std::uint8_t border_value;
    int radius_x;  ///< in values
    int radius_y;
    int source_alignment;
    int destination_alignment;
    unsigned high_scale;  ///< scales a row's sums, so that their whole part is the uppermost byte
    unsigned low_scale;
    float scale;  ///< of the result
    int strips;
    int segments;
    int tiles;  ///< squares that a block does, one below the other
    square_band_x along_x;
    square_band_y along_y;
};

template <class Band>
Band make_band(const taps& taps, int step, int lead, int blocks) {
    Band result;
    result.blocks = blocks;
    result.lead = lead;
    const std::span<const float> weights = taps.weights();
    constexpr double max_sum = 0x1p20;  // keeps the sums of the pass along y below 2^23
    const double scale = best_scale(weights, max_sum);
    int at = tile::side + lead - taps.radius * step;
    for (const float weight : weights) {
        const int number = whole(scale * weight);
        result.high[at] = static_cast<std::uint8_t>(number >> 8);
        result.low[at] = static_cast<std::uint8_t>(number);
        result.sum += number;
        at += step;
    }
    return result;
}

/// Row m of a product along x is this column of a square. A thread then gets four neighbours of a row.
__device__ inline int column_of(int m) {
    return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}
/// Index k of a product along y is this row of a square: the products along x leave the rows in this order.
__device__ inline int row_of(int k) {
    return k % 4 / 2 * 8 + k / 4 * 2 + k % 2;
}

/// The banded matrix in fragments of 16 x 16. Each block of the window has the high parts first, then the low ones.
template <bool along_x, class Band>
__device__ void stage_fragments(uint2* fragments, const Band& band, int threads) {
    const int count = band.blocks * 2 * 32 * 2;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
        const int lane = i / 2 % 32;
        const std::uint8_t* weights = i / 64 % 2 == 0 ? band.high : band.low;
        const int m = lane / 4 + i % 2 * 8;
        const int block = i / 128;
        unsigned word = 0;
        for (int b = 0; b < 4; ++b) {
            const int k = lane % 4 * 4 + b;
            const int distance = along_x ? k - column_of(m) : row_of(k) - m;
            word |= unsigned{weights[tile::side * (block + 1) + distance]} << (8 * b);
        }
        reinterpret_cast<unsigned*>(fragments)[i] = word;
    }
}

/// Copies the part of a band that its blocks need.
template <class Band>
__device__ void copy_band(Band& to, const Band& from, int threads) {
    const int words = (from.blocks + 1) * tile::side / 4;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) {
        reinterpret_cast<unsigned*>(to.high)[i] = reinterpret_cast<const unsigned*>(from.high)[i];
        reinterpret_cast<unsigned*>(to.low)[i] = reinterpret_cast<const unsigned*>(from.low)[i];
    }
    if (threadIdx.x == 0) to.blocks = from.blocks;
}

/// A warp that loads rows of a strip and its halo, 16 a step.
struct loader {
    const parameters& p;
    const std::uint8_t* source;
    std::uint8_t* stages;
    int* columns;  ///< for columns outside of [inside_begin, inside_end): the element of a row, or -1
    int pitch;
    std::int64_t top;  ///< the source's row at line 0
    int first_line;    ///< the first line that is needed
    int last_line;
    int left;          ///< the value of a source's row at column 0
    int window;        ///< columns
    int inside_begin;  ///< the first column that is copied by chunks
    int inside_end;

    static constexpr std::int64_t border_line = -1;
    static constexpr std::int64_t no_line = -2;
    static constexpr int lines_per_warp = 32 / tile::side;
    static constexpr int batch = 8;  ///< loads that a lane waits for at once

    __device__ void look_up_columns(int first) const {
        const int channels = static_cast<int>(p.source.first.channels);
        const int width = static_cast<int>(p.source.first.width);
        const int shift = round_up(-::min(left, 0), channels);  // whole pixels, so that none is negative
        for (int column = first; column < window; column += tile::loaders * 32) {
            if (column >= inside_begin && column < inside_end) continue;
            const int value = left + column + shift;
            const int pixel = source_index(value / channels - shift / channels, width, p.border);
            columns[column] = pixel < 0 ? -1 : pixel * channels + value % channels;
        }
    }

    /// Copies `batch` chunks or fewer, of rows that lie multiples of 4 or 8 bytes apart.
    template <int alignment, class Target, class Source, class Exists>
    __device__ static void copy_chunks(Target target, Source from, Exists exists) {
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (!exists(i)) continue;
            if constexpr (alignment == 8) {
                ptx::cp_async<8>(target(i), from(i), 8);
            } else {
                ptx::cp_async<4>(target(i), from(i), 4);
                ptx::cp_async<4>(target(i) + 4, from(i) + 4, 4);
            }
        }
    }

    /// The warp copies the first 32 chunks of a row. The others are copied by lanes that have a row each. `own_line` is the
    /// offset of row lane % 16, or border_line or no_line.
    template <int alignment>
    __device__ void load_chunks(std::uint8_t* to, std::int64_t own_line, int lane) const {
        const int column = inside_begin + lane * tile::chunk;
#pragma unroll
        for (int row = 0; row < tile::side; row += batch) {
            std::int64_t lines[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) lines[i] = __shfl_sync(~0u, own_line, row + i);
            copy_chunks<alignment>([&](int i) { return to + (row + i) * pitch + column; },
                                   [&](int i) { return source + lines[i] + left + column; },
                                   [&](int i) { return column < inside_end && lines[i] >= 0; });
        }
        if (own_line < 0) return;
        constexpr int step = lines_per_warp * tile::chunk;
        for (int first = inside_begin + (32 + lane / tile::side) * tile::chunk; first < inside_end;
             first += batch * step)
            copy_chunks<alignment>([&](int i) { return to + lane % tile::side * pitch + first + i * step; },
                                   [&](int i) { return source + own_line + left + first + i * step; },
                                   [&](int i) { return first + i * step < inside_end; });
    }

    /// Fills rows above and below a source whose border is a constant.
    __device__ void fill_border(std::uint8_t* to, std::int64_t own_line, int lane) const {
        if (own_line != border_line) return;
        const unsigned word = 0x01010101u * p.border_value;
        for (int i = inside_begin + lane / tile::side * tile::chunk; i < inside_end;
             i += lines_per_warp * tile::chunk)
            *reinterpret_cast<uint2*>(to + lane % tile::side * pitch + i) = make_uint2(word, word);
    }

    /// Loads columns beyond the ends of a row, and those that its chunks leave over.
    __device__ void load_edges(std::uint8_t* to, std::int64_t own_line, int lane) const {
        if (own_line == no_line) return;
        const int count = ::min(inside_begin, window) + ::max(0, window - inside_end);
        const auto column = [&](int i) { return i < inside_begin ? i : i + inside_end - inside_begin; };
        constexpr int values = 2 * batch;
        for (int first = lane / tile::side; first < count; first += values * lines_per_warp) {
            std::uint8_t read[values];
#pragma unroll
            for (int j = 0; j < values; ++j) {
                const int i = first + j * lines_per_warp;
                if (i >= count) continue;
                const int place = columns[column(i)];
                read[j] = own_line < 0 || place < 0 ? p.border_value : source[own_line + place];
            }
#pragma unroll
            for (int j = 0; j < values; ++j) {
                const int i = first + j * lines_per_warp;
                if (i < count) to[lane % tile::side * pitch + column(i)] = read[j];
            }
        }
    }

    /// Copies rows that lie any number of bytes apart as whole words: those that hold their chunks, and one more. A row's
    /// chunks then lie too far behind, by as many bytes as the first one lies behind a word. All words are inside the row, as
    /// it has at least four bytes beside its chunks.
    __device__ void copy_words(std::uint8_t* to, std::int64_t own_line, int lane) const {
        constexpr int word = sizeof(unsigned);
        const int end = inside_begin < inside_end ? inside_end - inside_begin + word : 0;
#pragma unroll 1
        for (int row = 0; row < tile::side; row += batch) {
            const std::uint8_t* from[batch];
            bool is_row[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                const std::int64_t line = __shfl_sync(~0u, own_line, row + i);
                is_row[i] = line >= 0;
                from[i] = source + line + left + inside_begin;
                from[i] -= bytes_behind_word(from[i]);
            }
            std::uint8_t* const rows_to = to + row * pitch + inside_begin;
#pragma unroll 1
            for (int at = lane * word; at < end; at += warp_threads * word)
#pragma unroll
                for (int i = 0; i < batch; ++i)
                    ptx::cp_async_if<word>(is_row[i], rows_to + i * pitch + at, from[i] + at);
        }
    }

    /// Shifts the chunks of such rows to their places. A lane reads the next lane's chunk before that is shifted.
    __device__ void shift_words(std::uint8_t* to, std::int64_t own_line, int lane) const {
        constexpr int together = 4;  // rows
#pragma unroll 1
        for (int row = 0; row < tile::side; row += together) {
            int behind[together];
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const std::int64_t line = __shfl_sync(~0u, own_line, row + i);
                behind[i] = line < 0 ? 0 : bytes_behind_word(source + line + left + inside_begin);
            }
#pragma unroll 1
            for (int first = inside_begin; first < inside_end; first += warp_threads * tile::chunk) {
                const int column = first + lane * tile::chunk;
                const bool is_inside = column < inside_end;
                std::uint8_t* const chunks = to + row * pitch + column;
                uint2 shifted[together];
#pragma unroll
                for (int i = 0; i < together; ++i) {
                    if (!is_inside) continue;
                    const auto* const chunk = reinterpret_cast<const uint2*>(chunks + i * pitch);
                    const uint2 words = chunk[0];
                    const unsigned next = reinterpret_cast<const unsigned*>(chunk)[2];
                    shifted[i] = make_uint2(word_behind(words.x, words.y, behind[i]),
                                            word_behind(words.y, next, behind[i]));
                }
                ptx::sync_warp();
#pragma unroll
                for (int i = 0; i < together; ++i)
                    if (is_inside) *reinterpret_cast<uint2*>(chunks + i * pitch) = shifted[i];
            }
        }
        ptx::sync_warp();
    }

    __device__ std::uint8_t* stage_of(int step) const {
        return stages + step % tile::stages * tile::side * pitch;
    }
    /// Where row lane % 16 of a step begins in the source, or border_line or no_line.
    __device__ std::int64_t line_of(int step, int lane) const {
        const int line = step * tile::side + lane % tile::side;
        if (line < first_line || line >= last_line) return no_line;
        const std::int64_t y = source_index(top + line, p.source.first.height, p.border);
        return y < 0 ? border_line : y * p.source.first.row_stride;
    }
    /// Loads the parts of a step's rows that no chunk has.
    __device__ void load_others(std::uint8_t* to, std::int64_t own_line, int lane) const {
        if (p.border == border::constant) fill_border(to, own_line, lane);
        if (inside_begin > 0 || inside_end < window) load_edges(to, own_line, lane);
    }

    /// Loads a warp's steps, from `first` on.
    __device__ void load_steps(int first, int total, ptx::mbarrier* full, ptx::mbarrier* empty,
                               int lane) const {
#pragma unroll 1
        for (int step = first; step < total; step += tile::loaders) {
            const int stage = step % tile::stages;
            ptx::wait(&empty[stage], (step / tile::stages + 1) % 2);
            std::uint8_t* const to = stage_of(step);
            const std::int64_t own_line = line_of(step, lane);
            if (p.source_alignment == 8)
                load_chunks<8>(to, own_line, lane);
            else
                load_chunks<4>(to, own_line, lane);
            load_others(to, own_line, lane);
            ptx::arrive_after_copies(&full[stage]);
            ptx::arrive(&full[stage]);
        }
    }

    /// The same for rows that lie any number of bytes apart. While the warp shifts the words of a step, those of its next step
    /// are under way.
    __device__ void load_steps_by_words(int first, int total, ptx::mbarrier* full, ptx::mbarrier* empty,
                                        int lane) const {
        const auto start = [&](int step) {
            if (step < total) {
                ptx::wait(&empty[step % tile::stages], (step / tile::stages + 1) % 2);
                copy_words(stage_of(step), line_of(step, lane), lane);
            }
            ptx::cp_async_commit_group();
        };
        start(first);
#pragma unroll 1
        for (int step = first; step < total; step += tile::loaders) {
            start(step + tile::loaders);
            ptx::cp_async_wait_group<1>();
            ptx::sync_warp();
            std::uint8_t* const to = stage_of(step);
            const std::int64_t own_line = line_of(step, lane);
            shift_words(to, own_line, lane);
            load_others(to, own_line, lane);
            ptx::arrive(&full[step % tile::stages]);  // for the copies
            ptx::arrive(&full[step % tile::stages]);
        }
        ptx::cp_async_wait_group<0>();
    }
};

/// The work of the warps that load. `begin` is the strip's first value, and its row has `values` values from there on.
/// Results begin at row `top`, and are `outputs` rows.
template <int blocks, bool in_words>
__device__ __forceinline__ void load_strip(const parameters& p, std::uint8_t* bytes, const square_layout& at,
                                           std::int64_t image, int begin, int values, std::int64_t top,
                                           int outputs, int total) {
    constexpr ring_of_squares shape(blocks);
    constexpr int consumers = 32 * shape.warps;
    const int thread = static_cast<int>(threadIdx.x);
    const int channels = static_cast<int>(p.source.first.channels);
    const int lead_y = (blocks - 1) * tile::side / 2;
    auto* full = reinterpret_cast<ptx::mbarrier*>(bytes);
    ptx::mbarrier* empty = full + tile::stages;
    const int left = static_cast<int>(p.x) + begin - p.along_x.lead;
    const int row_end = static_cast<int>(p.source.first.width) * channels;
    const int window = p.along_x.lead + ::min(values, shape.columns) + p.radius_x;
    const int margin = in_words ? 0 : 4;  // of words around a chunk
    const int inside_begin = round_up(::min(::max(0, margin - left), window), tile::chunk);
    const int inside_end = ::max(inside_begin, ::min(round_up(window, tile::chunk),
                                                     (row_end - margin - left) / tile::chunk * tile::chunk));
    const loader loader{p,
                        p.source.first.data + image * p.source.stride,
                        bytes + at.stages,
                        reinterpret_cast<int*>(bytes + at.columns),
                        at.pitch,
                        p.y + top - lead_y,
                        lead_y - p.radius_y,
                        lead_y + outputs + p.radius_y,
                        left,
                        window,
                        inside_begin,
                        inside_end};
    loader.look_up_columns(thread - consumers);
    ptx::sync_threads(barrier_of_loaders, 32 * tile::loaders);
    const int first = thread / warp_threads - shape.warps, lane = thread % warp_threads;
    if constexpr (in_words)
        loader.load_steps(first, total, full, empty, lane);
    else
        loader.load_steps_by_words(first, total, full, empty, lane);
}

/// Stores eight neighbours of a row to any address, as whole words of memory. Single bytes remain at the ends of the warp's
/// part of the row. `next` are the values behind the eight; the last of the lanes beside each other has none. The row has
/// `valid` values from the first of the eight on.
__device__ __forceinline__ void store_words(std::uint8_t* to, const uint2& eight, unsigned next, int valid,
                                            bool is_first, bool is_last) {
    constexpr int word = sizeof(unsigned);
    const int begin = (word - bytes_behind_word(to)) % word, end = is_last ? ::min(valid, 8) : valid;
    const unsigned words[2] = {word_behind(eight.x, eight.y, begin), word_behind(eight.y, next, begin)};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int at = begin + i * word;
        if (at + word <= end) {
            *reinterpret_cast<unsigned*>(to + at) = words[i];
        } else {
#pragma unroll
            for (int b = 0; b + 1 < word; ++b)
                if (at + b < end) to[at + b] = static_cast<std::uint8_t>(words[i] >> 8 * b);
        }
    }
#pragma unroll
    for (int b = 0; b + 1 < word; ++b)
        if (is_first && b < ::min(begin, end)) to[b] = static_cast<std::uint8_t>(eight.x >> 8 * b);
}

/// Stores a step's results: eight neighbours of a row, and of the row eight below. From the thread's first result on, the
/// destination has `rows` rows, and a row has `valid` values.
template <bool in_words>
__device__ __forceinline__ void store_squares(const parameters& p, std::uint8_t* out, std::int64_t half_step,
                                              const unsigned (&words)[tile::squares][2], int lane, int valid,
                                              int rows) {
    const bool is_odd = lane % 2 != 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const unsigned kept = is_odd ? words[1][half] : words[0][half];
        const unsigned other = __shfl_xor_sync(~0u, is_odd ? words[0][half] : words[1][half], 1);
        const uint2 eight = is_odd ? make_uint2(other, kept) : make_uint2(kept, other);
        std::uint8_t* to = out + half * half_step;
        if constexpr (!in_words) {
            // Lanes 0, 2, 1 and 3 of four hold neighbours, in this order.
            const unsigned next = __shfl_sync(~0u, eight.x, lane ^ (lane % 4 < 2 ? 2 : 3));
            if (half * 8 < rows) store_words(to, eight, next, valid, lane % 4 == 0, lane % 4 == 3);
            continue;
        }
        if (half * 8 >= rows) continue;
        if (valid >= 8 && p.destination_alignment == 8) {
            *reinterpret_cast<uint2*>(to) = eight;
        } else if (valid >= 8) {
            *reinterpret_cast<unsigned*>(to) = eight.x;
            *reinterpret_cast<unsigned*>(to + 4) = eight.y;
        } else {
#pragma unroll
            for (int i = 0; i < 8; ++i)
                if (i < valid) to[i] = static_cast<std::uint8_t>((i < 4 ? eight.x : eight.y) >> (i % 4 * 8));
        }
    }
}

}  // namespace heddle::kernels::gaussian_blur::squares
