// mma_xy: the blur of bytes as two products with banded matrices, W_y (image W_x), in whole numbers on
// the tensor cores. One launch, one read, one write.
//
//   along x   H (16 columns x 8 rows)    = W_x (16 x window) * rows of the image, as they lie in memory
//   along y   out (16 rows x 8 columns)  = W_y (16 x window) * H (window x 8 columns)
//
// `fused` spends 2 (2 r + 1) FMAs a value; here one instruction does 4096 products, of bytes. So
// - weights become whole numbers 256 u + v in the ratio of the taps, and H, the sum of (256 u + v) p, is
//   exact. Its upper 24 bits are three bytes a, b, c. Of the six products of its bytes and a weight's all but
//   c v are taken, in three exact sums of one scale each: a u | a v + b u | b v + c u. What errs is the
//   rounding of the weights and the few bits dropped; taps that are multiples of 2^-8 give the exact blur,
//   ties to even.
// - interleaved channels need nothing: the taps of W_x lie `channels` values apart.
// - a thread's part of H is what the next product wants of it, as rows of H may come in any order if the
//   columns of W_y come in the same: nothing moves between threads from one product to the other.
//
// Warps march side by side down a strip, 16 rows a step; what the window needs of H stays in registers, a
// ring of `blocks` blocks of 16 rows. Two more warps load rows and halo by cp.async, some steps ahead, and
// what stands for pixels beyond the borders: the others never see a border.
//
// Any shape and alignment; fast where rows of source and destination start at multiples of 4 bytes: packed
// rows of odd length take several times as long. Radius up to tile::max_radius. Built for compute
// capability 9.0, as it needs mbarrier.try_wait; nothing else is of Hopper alone. Small windows of rows that
// start at multiples of 16 bytes: mma_x_registers_y.cu.
//
// The error before rounding, in values of 0..255; n taps of an axis, W their whole numbers, S the sum of W,
// which is at least 2^15 / (largest tap), or 2^19 if that is less:
//   weights       <= 127.5 * sum of |W / S - w| <= 127.5 n / S, for each axis
//   c v left out  <= 2 n / S
//   H cut         <= 2^-15, its middle sums rounded to whole numbers <= 1 / S, and the last two roundings in
//                 float <= 255 * 2^-23
// n <= 81 makes that below 0.65, so a pixel is within one level; of a Gaussian it is below 0.06. On noise
// 2e-5 to 2e-4 of the pixels are not the rounded exact value, which is this error's mean.
//
// What limits it is latency: 16 warps that compute are too few to hide it, as the ring and the sums fill the
// registers; and blocks at the left and right borders, whose loaders wait for single bytes, end last.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/pixel.cuh"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/mma_xy.hpp"
#include "kernels/separable_filter/sum_bytes.cuh"
#include "kernels/separable_filter/whole_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace heddle::kernels::separable_filter {
namespace {

using tile = square_tile;

/// Of a block; the one of __syncthreads() is 0.
constexpr int barrier_of_consumers = 1;
constexpr int barrier_of_loaders = 2;

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
    unsigned high_scale;  ///< of a row's sums, so that their whole part is the uppermost byte
    unsigned low_scale;
    float scale;  ///< of the result
    int strips;
    int segments;
    int tiles;  ///< squares that a block does, one below the other
    square_band_x along_x;
    square_band_y along_y;
};

/// The column of a square that row m of a product along x is: a thread then gets four neighbours of a row.
__device__ int column_of(int m) {
    return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}
/// The row of a square that index k of a product along y is: the order in which the products along x leave
/// them.
__device__ int row_of(int k) {
    return k % 4 / 2 * 8 + k / 4 * 2 + k % 2;
}

/// The banded matrix in fragments of 16 x 16: of each block of the window the high parts, then the low ones.
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

/// What the blocks of a band need of it.
template <class Band>
__device__ void copy_band(Band& to, const Band& from, int threads) {
    const int words = (from.blocks + 1) * tile::side / 4;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) {
        reinterpret_cast<unsigned*>(to.high)[i] = reinterpret_cast<const unsigned*>(from.high)[i];
        reinterpret_cast<unsigned*>(to.low)[i] = reinterpret_cast<const unsigned*>(from.low)[i];
    }
    if (threadIdx.x == 0) to.blocks = from.blocks;
}

/// What a warp knows that loads rows of a strip and its halo, 16 a step.
struct loader {
    const parameters& p;
    const std::uint8_t* source;
    std::uint8_t* stages;
    int* columns;  ///< for the columns outside of [inside_begin, inside_end): where in a row, or -1
    int pitch;
    std::int64_t top;  ///< the source's row at line 0
    int first_line;    ///< lines that are needed
    int last_line;
    int left;          ///< the value of a source's row at column 0
    int window;        ///< columns
    int inside_begin;  ///< columns that are copied by chunks
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

    /// A chunk at any address, from the words around it.
    __device__ static uint2 read_chunk(const std::uint8_t* from) {
        const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 4);
        const auto* words = reinterpret_cast<const unsigned*>(from - shift);
        const unsigned a = words[0], b = words[1], c = words[2];
        return make_uint2(__funnelshift_r(a, b, 8 * shift), __funnelshift_r(b, c, 8 * shift));
    }

    /// `batch` chunks or fewer. What cp.async cannot copy passes through registers, all at once.
    template <int alignment, class Target, class Source, class Exists>
    __device__ static void copy_chunks(Target target, Source from, Exists exists) {
        uint2 read[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (!exists(i)) continue;
            if constexpr (alignment == 8) {
                ptx::cp_async<8>(target(i), from(i), 8);
            } else if constexpr (alignment == 4) {
                ptx::cp_async<4>(target(i), from(i), 4);
                ptx::cp_async<4>(target(i) + 4, from(i) + 4, 4);
            } else {
                read[i] = read_chunk(from(i));
            }
        }
        if constexpr (alignment < 4) {
#pragma unroll
            for (int i = 0; i < batch; ++i)
                if (exists(i)) *reinterpret_cast<uint2*>(target(i)) = read[i];
        }
    }

    /// The first 32 chunks of a row by the warp, the others by lanes that have a row each: `own_line` is the
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

    /// Rows above and below a source whose border is a constant.
    __device__ void fill_border(std::uint8_t* to, std::int64_t own_line, int lane) const {
        if (own_line != border_line) return;
        const unsigned word = 0x01010101u * p.border_value;
        for (int i = inside_begin + lane / tile::side * tile::chunk; i < inside_end;
             i += lines_per_warp * tile::chunk)
            *reinterpret_cast<uint2*>(to + lane % tile::side * pitch + i) = make_uint2(word, word);
    }

    /// Columns beyond the ends of a row, and those that its chunks leave over.
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

    __device__ void load(int step, int lane) const {
        std::uint8_t* to = stages + step % tile::stages * tile::side * pitch;
        const int line = step * tile::side + lane % tile::side;
        std::int64_t own_line = no_line;
        if (line >= first_line && line < last_line) {
            const std::int64_t y = source_index(top + line, p.source.first.height, p.border);
            own_line = y < 0 ? border_line : y * p.source.first.row_stride;
        }
        if (p.source_alignment == 8)
            load_chunks<8>(to, own_line, lane);
        else if (p.source_alignment == 4)
            load_chunks<4>(to, own_line, lane);
        else
            load_chunks<1>(to, own_line, lane);
        if (p.border == border::constant) fill_border(to, own_line, lane);
        if (inside_begin > 0 || inside_end < window) load_edges(to, own_line, lane);
    }
};

/// A block marches down a strip; a warp's ring has `blocks` blocks of 16 rows.
template <int blocks>
__global__ void __launch_bounds__(ring_of_squares(blocks).threads, ring_of_squares(blocks).blocks_per_sm)
    mma_xy(const __grid_constant__ parameters p) {
    extern __shared__ uint4 storage[];
    constexpr ring_of_squares shape(blocks);
    constexpr int consumers = 32 * shape.warps;
    const square_layout at = lay_out_squares(p.along_x.blocks, blocks, shape.columns);
    auto* bytes = reinterpret_cast<std::uint8_t*>(storage);
    auto* fragments_x = reinterpret_cast<uint2*>(bytes + at.fragments_x);
    auto* fragments_y = reinterpret_cast<uint2*>(bytes + at.fragments_y);
    std::uint8_t* stages = bytes + at.stages;

    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int begin = static_cast<int>(blockIdx.x) % p.strips * shape.columns;
    const int segment = static_cast<int>(blockIdx.x) / p.strips % p.segments;
    const std::int64_t image = static_cast<int>(blockIdx.x) / p.strips / p.segments;
    const std::int64_t top = std::int64_t{segment} * p.tiles * tile::side;
    const int channels = static_cast<int>(p.source.first.channels);
    const int values = static_cast<int>(p.destination.first.width) * channels - begin;
    const int outputs = static_cast<int>(
        ::min(p.destination.first.height - top, static_cast<std::int64_t>(p.tiles * tile::side)));
    const int lead_y = (blocks - 1) * tile::side / 2;
    const int total = (outputs + tile::side - 1) / tile::side + blocks - 1;

    auto* full = reinterpret_cast<ptx::mbarrier*>(bytes);
    ptx::mbarrier* empty = full + tile::stages;
    if (thread == 0)
        for (int i = 0; i < tile::stages; ++i) {
            ptx::init(&full[i], 2 * 32);      // of each lane that loads: its copies, and its own stores
            ptx::init(&empty[i], consumers);  // of each lane that reads
        }
    __syncthreads();  // here all warps meet; from now on the two kinds have barriers of their own
    if (warp >= shape.warps) {
        const int left = static_cast<int>(p.x) + begin - p.along_x.lead;
        const int row_end = static_cast<int>(p.source.first.width) * channels;
        const int window = p.along_x.lead + ::min(values, shape.columns) + p.radius_x;
        const int margin = p.source_alignment < 4 ? 4 : 0;  // of words around a chunk
        const int inside_begin = round_up(::min(::max(0, margin - left), window), tile::chunk);
        const int inside_end = ::max(
            inside_begin,
            ::min(round_up(window, tile::chunk), (row_end - margin - left) / tile::chunk * tile::chunk));
        const loader loader{p,
                            p.source.first.data + image * p.source.stride,
                            stages,
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
#pragma unroll 1
        for (int step = warp - shape.warps; step < total; step += tile::loaders) {
            const int stage = step % tile::stages;
            ptx::wait(&empty[stage], (step / tile::stages + 1) % 2);
            loader.load(step, lane);
            ptx::arrive_after_copies(&full[stage]);
            ptx::arrive(&full[stage]);
        }
        return;
    }

    auto& along_x = *reinterpret_cast<square_band_x*>(bytes + at.bands);
    auto& along_y = *reinterpret_cast<square_band_y*>(&along_x + 1);
    copy_band(along_x, p.along_x, consumers);
    copy_band(along_y, p.along_y, consumers);
    ptx::sync_threads(barrier_of_consumers, consumers);
    stage_fragments<true>(fragments_x, along_x, consumers);
    stage_fragments<false>(fragments_y, along_y, consumers);
    ptx::sync_threads(barrier_of_consumers, consumers);

    // Even lanes store eight neighbours of the first square, odd ones of the second.
    const bool is_odd = lane % 2 != 0;
    const int column = warp * tile::warp_columns + lane % 2 * tile::side + lane % 4 / 2 * 8;
    std::uint8_t* out = p.destination.first.data + image * p.destination.stride +
                        (top + lane / 4) * p.destination.first.row_stride + begin + column;
    const std::int64_t half_step = tile::side / 2 * p.destination.first.row_stride;
    const int valid = values - column;  // values from this thread's first one on

    unsigned ring[tile::squares][2][3][blocks];
    const std::uint8_t* own = stages + (lane % 8 + lane / 16 * 8) * at.pitch + warp * tile::warp_columns +
                              lane / 8 % 2 * tile::side;

    for (int first = 0;; first += blocks) {
#pragma unroll
        for (int newest = 0; newest < blocks; ++newest) {
            const int step = first + newest;
            if (step >= total) return;
            ptx::wait(&full[step % tile::stages], step / tile::stages % 2);

            // Along x: where the ring is long, a square at a time.
            constexpr int together = blocks <= 3 ? tile::squares : 1;
#pragma unroll
            for (int pass = 0; pass < tile::squares; pass += together) {
                unsigned high[together][2][4] = {};
                unsigned low[together][2][4] = {};
                const std::uint8_t* window = own + step % tile::stages * tile::side * at.pitch;
                const uint2* weights = fragments_x + lane;
                const auto add_two_blocks = [&] {
                    const uint2 high_0 = weights[0], low_0 = weights[32], high_1 = weights[64],
                                low_1 = weights[96];
#pragma unroll
                    for (int s = 0; s < together; ++s) {
                        unsigned rows[4];
                        ptx::load_matrices<false>(rows, window + (pass + s) * tile::side);
#pragma unroll
                        for (int half = 0; half < 2; ++half) {
                            ptx::mma_u8(high[s][half], high_0, rows[2 * half], high_1, rows[2 * half + 1]);
                            ptx::mma_u8(low[s][half], low_0, rows[2 * half], low_1, rows[2 * half + 1]);
                        }
                    }
                };
                add_two_blocks();
                int block = 2;
#pragma unroll 1
                for (; block + 1 < p.along_x.blocks; block += 2) {
                    window += 2 * tile::side;
                    weights += 128;
                    add_two_blocks();
                }
                if (block < p.along_x.blocks) {
                    const uint2 high_0 = weights[128], low_0 = weights[160];
#pragma unroll
                    for (int s = 0; s < together; ++s) {
                        unsigned rows[4];
                        ptx::load_matrices<false>(rows, window + (2 + pass + s) * tile::side);
#pragma unroll
                        for (int half = 0; half < 2; ++half) {
                            ptx::mma_u8(high[s][half], high_0, rows[2 * half]);
                            ptx::mma_u8(low[s][half], low_0, rows[2 * half]);
                        }
                    }
                }
#pragma unroll
                for (int s = 0; s < together; ++s)
#pragma unroll
                    for (int n = 0; n < 2; ++n) {
                        unsigned sums[4];
#pragma unroll
                        for (int i = 0; i < 4; ++i)
                            sums[i] = high[s][i / 2][2 * n + i % 2] * p.high_scale +
                                      low[s][i / 2][2 * n + i % 2] * p.low_scale;
                        const upper_bytes bytes = upper_bytes_of(sums[0], sums[1], sums[2], sums[3]);
                        ring[pass + s][n][0][newest] = bytes.a;
                        ring[pass + s][n][1][newest] = bytes.b;
                        ring[pass + s][n][2][newest] = bytes.c;
                    }
            }

            // Each lane for itself, which costs a little: racecheck does not see that a __syncwarp() and
            // one lane's arrival would do as well.
            ptx::arrive(&empty[step % tile::stages]);
            // Along y.
            if (step < blocks - 1) continue;
            unsigned words[tile::squares][2];
#pragma unroll
            for (int s = 0; s < tile::squares; ++s) {
                float results[2][4];
                unsigned sums[2][3][4];
#pragma unroll
                for (auto& of : sums)
#pragma unroll
                    for (auto& part : of)
#pragma unroll
                        for (unsigned& sum : part) sum = __float_as_uint(rounding_offset);
#pragma unroll
                for (int slot = 0; slot < blocks; slot += 2) {
                    // A slot's place in the window depends on which slot is the newest.
                    const uint2* weights_0 = fragments_y + (slot + blocks - newest - 1) % blocks * 64 + lane;
                    const uint2* weights_1 = fragments_y + (slot + blocks - newest) % blocks * 64 + lane;
                    const uint2 high_0 = weights_0[0], low_0 = weights_0[32];
                    const uint2 high_1 = weights_1[0], low_1 = weights_1[32];
#pragma unroll
                    for (int n = 0; n < 2; ++n) {
                        const auto& parts = ring[s][n];
                        const auto add = [&](unsigned(&to)[4], uint2 weight_0, uint2 weight_1, int part) {
                            if (slot + 1 < blocks)
                                ptx::mma_u8(to, weight_0, parts[part][slot], weight_1, parts[part][slot + 1]);
                            else
                                ptx::mma_u8(to, weight_0, parts[part][slot]);
                        };
                        add(sums[n][0], high_0, high_1, 0);
                        add(sums[n][1], low_0, low_1, 0);
                        add(sums[n][2], low_0, low_1, 1);
                        add(sums[n][1], high_0, high_1, 1);
                        add(sums[n][2], high_0, high_1, 2);
                    }
                }
#pragma unroll
                for (int n = 0; n < 2; ++n)
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const float upper =
                            fmaf(__uint_as_float(sums[n][0][i]), 256.0f, -(0x1p31f + 0x1p23f + 0x1p15f));
                        const float lower =
                            fmaf(__uint_as_float(sums[n][2][i]), 1.0f / 256, __uint_as_float(sums[n][1][i]));
                        results[n][i] = fmaf(upper + lower, p.scale, rounding_offset);
                    }
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const auto bits = [&](int n, int i) { return __float_as_uint(results[n][2 * half + i]); };
                    words[s][half] = __byte_perm(__byte_perm(bits(0, 0), bits(0, 1), 0x0040),
                                                 __byte_perm(bits(1, 0), bits(1, 1), 0x0040), 0x5410);
                }
            }
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const unsigned kept = is_odd ? words[1][half] : words[0][half];
                const unsigned other = __shfl_xor_sync(~0u, is_odd ? words[0][half] : words[1][half], 1);
                const uint2 eight = is_odd ? make_uint2(other, kept) : make_uint2(kept, other);
                std::uint8_t* to = out + half * half_step;
                if ((step - blocks + 1) * tile::side + half * 8 + lane / 4 >= outputs) continue;
                if (valid >= 8 && p.destination_alignment == 8) {
                    *reinterpret_cast<uint2*>(to) = eight;
                } else if (valid >= 8 && p.destination_alignment == 4) {
                    *reinterpret_cast<unsigned*>(to) = eight.x;
                    *reinterpret_cast<unsigned*>(to + 4) = eight.y;
                } else {
#pragma unroll
                    for (int i = 0; i < 8; ++i)
                        if (i < valid)
                            to[i] = static_cast<std::uint8_t>((i < 4 ? eight.x : eight.y) >> (i % 4 * 8));
                }
            }
            out += 2 * half_step;
        }
    }
}

}  // namespace

void launch_mma_xy(const mma_xy_plan& plan, const arguments<std::uint8_t>& a, cudaStream_t stream) {
    const int channels = static_cast<int>(a.source.first.channels);
    parameters p{};
    p.source = a.source;
    p.destination = a.destination;
    p.x = a.x * channels;
    p.y = a.y;
    p.border = a.border;
    p.border_value = a.border_value;
    p.radius_x = a.taps_x.radius * channels;
    p.radius_y = a.taps_y.radius;
    p.source_alignment = plan.source_alignment;
    p.destination_alignment = plan.destination_alignment;
    p.strips = plan.strips;
    p.segments = plan.segments;
    p.tiles = plan.tiles;
    p.along_x = make_band<square_band_x>(a.taps_x, channels, plan.lead, plan.blocks_x);
    p.along_y = make_band<square_band_y>(a.taps_y, 1, (plan.blocks_y - 1) * tile::side / 2, plan.blocks_y);
    const int shift = 24 - std::bit_width(static_cast<unsigned>(p.along_x.sum - 1));
    p.low_scale = 1u << shift;
    p.high_scale = 256u << shift;
    p.scale = static_cast<float>(std::ldexp(1.0, 24 - shift) / p.along_x.sum / p.along_y.sum);

    const auto launch_ring = [&](void (*kernel)(parameters)) {
        launch(config_of(plan.grid, stream), kernel, p);
    };
    switch (plan.blocks_y) {
        case 2:
            return launch_ring(mma_xy<2>);
        case 3:
            return launch_ring(mma_xy<3>);
        case 4:
            return launch_ring(mma_xy<4>);
        default:
            return launch_ring(mma_xy<6>);
    }
}

}  // namespace heddle::kernels::separable_filter
