// mma_xy: the blur of bytes as two products with banded matrices, W_y (image W_x), in whole numbers on the tensor cores.
//
//   along x   H (16 columns x 8 rows)    = W_x (16 x window) * rows of the image, as they lie in memory
//   along y   out (16 rows x 8 columns)  = W_y (16 x window) * H (window x 8 columns)
//
// Weights are whole numbers 256 u + v. H is exact, and its upper 24 bits are three bytes a, b and c. Along y all products
// of these bytes with u and v are taken, except c v. Three exact sums add them up: a u | a v + b u | b v + c u
// (docs/accuracy.md has the error). The taps of interleaved channels lie `channels` values apart. A thread's part of H is
// its operand of the next product.
//
// Warps march side by side down a strip, 16 rows a step. They keep the window's part of H in a ring of registers. Two more
// warps load the rows some steps ahead, and fill in pixels beyond the borders (squares.cuh).
//
// It needs a radius up to 40. Rows that lie any number of bytes apart are copied by words, and shifted to their places.
// What limits it is latency: 16 warps that compute are too few to hide it, as the ring and the sums fill the registers.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/gaussian_blur/bytes.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/mma_xy.hpp"
#include "kernels/gaussian_blur/squares.cuh"

#include <bit>
#include <cmath>

namespace heddle::kernels::gaussian_blur {
namespace {

using namespace squares;

/// A thread's part of H: for each square, each half of eight rows and each of three bytes, all blocks of the window.
template <int blocks>
using ring_of_bytes = unsigned[tile::squares][2][3][blocks];

/// Filters a step's rows along x into the ring's newest block. `own` is where the warp's windows begin in shared memory. If
/// the ring is long, it takes one square at a time.
template <int blocks>
__device__ __forceinline__ void filter_along_x(const parameters& p, const std::uint8_t* own,
                                               const uint2* fragments, int newest,
                                               ring_of_bytes<blocks>& ring) {
    constexpr int together = blocks <= 3 ? tile::squares : 1;
#pragma unroll
    for (int pass = 0; pass < tile::squares; pass += together) {
        unsigned high[together][2][4] = {};
        unsigned low[together][2][4] = {};
        const std::uint8_t* window = own;
        const uint2* weights = fragments;
        const auto add_two_blocks = [&] {
            const uint2 high_0 = weights[0], low_0 = weights[32], high_1 = weights[64], low_1 = weights[96];
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
}

/// Filters along y. Each square has two words of results, with the bytes of four neighbours each.
template <int blocks>
__device__ __forceinline__ void filter_along_y(const parameters& p, const uint2* fragments, int newest,
                                               const ring_of_bytes<blocks>& ring,
                                               unsigned (&words)[tile::squares][2]) {
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
            const uint2* weights_0 = fragments + (slot + blocks - newest - 1) % blocks * 64;
            const uint2* weights_1 = fragments + (slot + blocks - newest) % blocks * 64;
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
}

/// A block marches down a strip; a warp's ring has `blocks` blocks of 16 rows. `in_words` says that rows of the source lie
/// multiples of 4 bytes apart, and that rows of the destination begin at multiples of 4 bytes.
template <int blocks, bool in_words>
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
    const int total = (outputs + tile::side - 1) / tile::side + blocks - 1;

    auto* full = reinterpret_cast<ptx::mbarrier*>(bytes);
    ptx::mbarrier* empty = full + tile::stages;
    if (thread == 0)
        for (int i = 0; i < tile::stages; ++i) {
            ptx::init(&full[i], 2 * 32);  // each lane that loads arrives for its copies and for its stores
            ptx::init(&empty[i], consumers);  // each lane that reads arrives
        }
    ptx::sync_threads();  // here all warps meet; from now on the two kinds have barriers of their own
    if (warp >= shape.warps) {
        load_strip<blocks, in_words>(p, bytes, at, image, begin, values, top, outputs, total);
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
    const int column = warp * tile::warp_columns + lane % 2 * tile::side + lane % 4 / 2 * 8;
    std::uint8_t* out = p.destination.first.data + image * p.destination.stride +
                        (top + lane / 4) * p.destination.first.row_stride + begin + column;
    const std::int64_t half_step = tile::side / 2 * p.destination.first.row_stride;
    const int valid = values - column;  // values from this thread's first one on

    ring_of_bytes<blocks> ring;
    const std::uint8_t* own = stages + (lane % 8 + lane / 16 * 8) * at.pitch + warp * tile::warp_columns +
                              lane / 8 % 2 * tile::side;

    for (int first = 0;; first += blocks) {
#pragma unroll
        for (int newest = 0; newest < blocks; ++newest) {
            const int step = first + newest;
            if (step >= total) return;
            ptx::wait(&full[step % tile::stages], step / tile::stages % 2);
            filter_along_x<blocks>(p, own + step % tile::stages * tile::side * at.pitch, fragments_x + lane,
                                   newest, ring);

            // Each lane arrives for itself, which costs a little. One arrival after a sync_warp() would do, but racecheck
            // does not see that.
            ptx::arrive(&empty[step % tile::stages]);
            if (step < blocks - 1) continue;
            unsigned words[tile::squares][2];
            filter_along_y<blocks>(p, fragments_y + lane, newest, ring, words);
            store_squares<in_words>(p, out, half_step, words, lane, valid,
                                    outputs - (step - blocks + 1) * tile::side - lane / 4);
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

    const auto launch_ring = [&]<int blocks>() {
        launch(config_of(plan.grid, stream), plan.in_words ? mma_xy<blocks, true> : mma_xy<blocks, false>, p);
    };
    switch (plan.blocks_y) {
        case 2:
            return launch_ring.template operator()<2>();
        case 3:
            return launch_ring.template operator()<3>();
        case 4:
            return launch_ring.template operator()<4>();
        default:
            return launch_ring.template operator()<6>();
    }
}

}  // namespace heddle::kernels::gaussian_blur
