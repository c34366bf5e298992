// wgmma_xy: the blur of bytes as two products with banded matrices, in whole numbers, 64 values by 64
// rows at a time. One launch, one read, one write.
//
//   along x   h^T (64 columns x 64 rows)   = W_x (64 x window) * rows of the image, as they lie in memory
//   along y   out^T (64 columns x 32 rows) = h^T (64 x 64) * W_y (64 x 32), twice
//
// - Bytes are multiplied along k alone: rows of the image lie so, and of interleaved channels the taps of W_x lie
//   `channels` values apart. h^T stays in registers: a thread's part of a sum is what the next product wants of it,
//   as its k may come in any order. W_y has it in that order.
// - Weights are whole numbers 256 u + v, and h, exact, is rounded to 24 bits, bytes a, b, c. Five products are taken along
//   y, 256 a u + (a v + b u) + (b v + c u) / 256, all but c v. The last two come first: shifted, their sum is where the
//   middle two are added, as there are no registers for a third.
// - Sums of the weights times a small multiplier are 2^24: multiplied by it, a result is the uppermost byte, from
//   where permutations take it, and h the upper three. The weights of a box are all one, and its sums exact: one product
//   along x, two along y, divided in float, and rounded as the exact means are while sums of a row fit 16 bits.
// - A row of 32 results needs a window of 64 rows up to radius 16, whatever the radius.
// - The tensor memory accelerator loads half of a step at once, boxes of 32 rows, which begin at multiples of 16 bytes,
//   and stores results where rows begin so too and are whole multiples of them. What stands for rows beyond an edge is
//   copied row by row, what stands for columns beyond an edge within shared memory (wgmma_rows.cuh).
// - Every multiprocessor has one block, and those share the tiles, which count through down the strips, so that all end
//   together.
//
//   four warps       | load rows of a step each, and fill in columns beyond the edges
//   four warpgroups  | along x, meanwhile store the last step's | cut | along y | pack | along y | pack | ...
//
// Learnt here: the products take two thirds of the time, and no one resource more; four warpgroups, whose registers just do,
// are faster than three, and turns of theirs gain nothing, as what cuts and packs waits for registers'
// ports that products occupy. At least as much came from the edges of the work: a first load that waits behind those of
// other stages, code that a warp runs alone and cold, blocks at the image's sides that end last.
//
// This is the variant `warpgroups`. `warps`, in mma_xy_by_channel.cu, has the same pixels sooner, of radii up to 8, but not of
// boxes nor of borders that wrap or are a constant. Here: any shape, border and region of a source whose rows start at
// multiples of 16 bytes; radii up to 16 along y, and along x up to 32 where windows of 64 values, which may begin 15 before
// what they need, are no wider than 320: of four channels up to 30, whatever the region; weights up to 5/8, or one alone. Built
// for compute capability 9.0a.
//
// The error before rounding, in values of 0..255; n taps of an axis, S the sum of its weights, which is at least
// 0.9 * min(2^15 / (largest tap), 2^19):
//   weights    <= 127.5 * sum of |W / S - w| <= 127.5 n / S, for each axis
//   h rounded  <= 2^-17, c v left out <= n / S, and the sum that is shifted, cut <= 1 / S
//   sums       <= 255 * 2^-23, as they are off 2^24 when multiplied, for each axis

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/tensor_map.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/sum_bytes.cuh"
#include "kernels/separable_filter/wgmma_rows.cuh"
#include "kernels/separable_filter/whole_weights.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::separable_filter::wgmma_xy {
namespace {

constexpr int makers = tile::groups * group_threads;

/// The column of a warpgroup's 64 that row m of a product is: stored, a thread's two rows are neighbours.
__device__ int column_of(int m) {
    return m / 16 * 16 + m % 8 * 2 + m % 16 / 8;
}
/// The row of a block of 32 that index k of a product along y is: the order in which the products along x leave them.
__device__ int row_of(int k) {
    return k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
}

/// The four weights from `first` on.
__device__ unsigned four_weights(const std::uint8_t* weights, int first) {
    const auto* const words = reinterpret_cast<const unsigned*>(weights) + first / word;
    return __funnelshift_r(words[0], words[1], 8 * static_cast<unsigned>(first % word));
}
/// W_x's weights of row m from value k on, in the order of its bytes.
__device__ unsigned weights_along_x(const std::uint8_t* band, int m, int k) {
    return four_weights(band, tile::side - 1 + k - column_of(m));
}
/// W_y's of row n from index k on.
__device__ unsigned weights_along_y(const std::uint8_t* band, int n, int k) {
    const int row = tile::side - 1 + k / tile::depth * tile::depth + row_of(k % tile::depth) - n;
    return __byte_perm(four_weights(band, row), four_weights(band, row + 8), 0x5410);
}

/// A band as an operand of so many rows, `depths` instructions deep, by all threads that multiply.
template <int rows, class Band, class Weights>
__device__ void make_operand(unsigned char* high, unsigned char* low, const Band& band, int depths,
                             Weights weights) {
    static_assert(makers % rows == 0);
    const int maker = static_cast<int>(threadIdx.x);
    const int row = maker % rows;
    for (int k = maker / rows * word; k < depths * tile::depth; k += makers / rows * word) {
        *reinterpret_cast<unsigned*>(high + place(row, k)) = weights(band.high, row, k);
        *reinterpret_cast<unsigned*>(low + place(row, k)) = weights(band.low, row, k);
    }
}

/// A thread's part of a block of 32 rows of h^T, in its three bytes.
struct bytes_of_h {
    unsigned a[4];
    unsigned b[4];
    unsigned c[4];

    __device__ void set(int i, const upper_bytes& bytes) {
        a[i] = bytes.a;
        b[i] = bytes.b;
        c[i] = bytes.c;
    }
};

/// A warpgroup that multiplies.
struct multiplier {
    const parameters& p;
    const layout& at;
    unsigned char* shared;
    int group;
    int thread;

    using stage = stage_position<tile::stages>;
    __device__ unsigned char* rows(const stage& of) const {
        return shared + of.stage * at.stage_boxes * operand::bytes;
    }

    __device__ unsigned scaled(unsigned sum) const { return sum * p.multiplier_y + p.rounding_y; }

    /// The means of sums of pixels, rounded where float's last bit is 1.
    __device__ unsigned means_of(unsigned a, unsigned b, unsigned c, unsigned d) const {
        constexpr unsigned unit = 0x4b000000;  // 2^23
        const auto mean = [this](unsigned sum) {
            const float value = __uint_as_float(unit + sum) - __uint_as_float(unit);
            return __float_as_uint(__fmaf_rn(value, p.of_pixel, __uint_as_float(unit)));
        };
        return __byte_perm(__byte_perm(mean(a), mean(b), 0x0040), __byte_perm(mean(c), mean(d), 0x0040),
                           0x5410);
    }

    template <bool of_box>
    __device__ void filter(walk steps, stage_barriers<tile::stages>& barriers) const {
        constexpr int newest = tile::newest;
        constexpr int per_box = operand::row / tile::depth;
        const auto at_depth = [](int i) {
            return static_cast<std::uint64_t>(i / per_box * (operand::bytes >> 4)) +
                   i % per_box * operand::advance;
        };
        const int warp = thread / warp_threads;
        const int lane = thread % warp_threads;
        const std::uint64_t high_y = operand_y::descriptor(shared + at.operand_y, 0);
        const std::uint64_t low_y = operand_y::descriptor(shared + at.operand_y + operand_y::bytes, 0);
        packed_tile done{};
        int place = at.results + group * tile::side * tile::side;
        int to_other_place = tile::groups * tile::side * tile::side;

        const std::uint64_t weights_x = operand::descriptor(shared + at.operand_x, 0);
        const std::uint64_t low_weights_x = at_depth(boxes_of(p.depths_x) * per_box);
        bytes_of_h h[tile::before + newest] = {};
        for (stage from; steps.next(); from.advance()) {
#pragma unroll
            for (int b = 0; b < tile::before; ++b) h[b] = h[b + newest];
            ptx::wait(&barriers.full[from.stage], from.parity);
            unsigned high[tile::side / 2], low[tile::side / 2];
            ptx::wgmma_fence();
            const auto multiply = [&](int i) {
                const std::uint64_t here = operand::descriptor(rows(from), 0) + at_depth(group * newest + i);
                if constexpr (!of_box) ptx::wgmma_u8(high, weights_x + at_depth(i), here, i > 0);
                ptx::wgmma_u8(low, weights_x + low_weights_x + at_depth(i), here, i > 0);
            };
            multiply(0);
#pragma unroll 1
            for (int i = 1; i < p.depths_x; ++i) multiply(i);
            ptx::wgmma_commit();
            store(done);  // meanwhile
            done.place = 0;
            ptx::wgmma_wait<0>();
            if constexpr (!of_box) ptx::wgmma_results(high);
            ptx::wgmma_results(low);
            if (lane == 0) ptx::arrive(&barriers.empty[from.stage]);
#pragma unroll
            for (int i = 0; i < tile::side / 2; ++i)
                low[i] =
                    of_box ? low[i] << 16 : (256 * high[i] + low[i]) * p.multiplier_x + half_of_lowest_byte;
#pragma unroll
            for (int i = 0; i < tile::side / 8; ++i) {
                const unsigned* const of = low + i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;
                h[tile::before + i / 4].set(i % 4, upper_bytes_of(of[0], of[1], of[4], of[5]));
            }
            if (steps.step < 0) continue;

#pragma unroll
            for (int half = 0; half < newest; ++half) {
                const auto multiply_all = [&](unsigned(&sums)[tile::depth / 2], auto bytes,
                                              std::uint64_t weights, bool accumulate) {
#pragma unroll
                    for (int b = 0; b <= tile::before; ++b)
                        ptx::wgmma_u8_of_registers(sums, h[half + b].*bytes, weights + b * operand_y::advance,
                                                   accumulate || b > 0);
                };
                unsigned upper[tile::depth / 2], lower[tile::depth / 2];
                if constexpr (!of_box) {
                    ptx::wgmma_fence();
                    multiply_all(lower, &bytes_of_h::b, low_y, false);
                    multiply_all(lower, &bytes_of_h::c, high_y, true);
                    ptx::wgmma_commit();
                    ptx::wgmma_wait<0>();
                    ptx::wgmma_results(lower);
#pragma unroll
                    for (unsigned& sum : lower) sum >>= 8;
                }
                ptx::wgmma_fence();
                multiply_all(upper, &bytes_of_h::a, high_y, false);
                multiply_all(lower, &bytes_of_h::b, high_y, !of_box);
                if constexpr (!of_box) multiply_all(lower, &bytes_of_h::a, low_y, true);
                ptx::wgmma_commit();
                ptx::wgmma_wait<0>();
                ptx::wgmma_results(upper);
                ptx::wgmma_results(lower);
                unsigned words[tile::depth / 8];  // two neighbours of a row, and the two below them
#pragma unroll
                for (int i = 0; i < tile::depth / 8; ++i) {
                    const auto sum = [&](int j) { return 256 * upper[4 * i + j] + lower[4 * i + j]; };
                    words[i] = of_box ? means_of(sum(0), sum(2), sum(1), sum(3))
                                      : uppermost_bytes(scaled(sum(0)), scaled(sum(2)), scaled(sum(1)),
                                                        scaled(sum(3)));
                }
                ptx::store_matrices<true>(
                    shared + place + place_of_result(half * tile::depth + lane, warp * 16), words[0],
                    words[1], words[2], words[3]);
            }
            if (p.stores_boxes) ptx::fence_before_copies();
            done = {place, steps.now.begin + group * tile::side, steps.now.top + steps.step * tile::side,
                    steps.now.image};
            place += to_other_place;
            to_other_place = -to_other_place;
        }
        store(done);
        if (p.stores_boxes && thread == 0) ptx::wait_for_reads_of_stores<0>();
    }

    /// Where results are, in bytes of shared memory, and where they belong.
    struct packed_tile {
        int place;  ///< 0: none
        int column;
        int row;
        int image;
    };

    /// 64 rows of 64 bytes, swizzled.
    __device__ static int place_of_result(int row, int at) {
        return row * tile::side + ((at / 16 ^ row / 2 % 4) * 16) + at % 16;
    }

    /// Frees the other place of results, too.
    __device__ void store(const packed_tile& done) const {
        if (done.place == 0) return;
        if (p.stores_boxes && thread == 0) ptx::wait_for_reads_of_stores<0>();
        ptx::sync_threads(first_group_barrier + group, group_threads);
        if (p.stores_boxes) {
            if (thread > 0) return;
            ptx::store_box(p.result, shared + done.place, done.column, done.row, done.image);
            ptx::commit_stores();
            return;
        }
        constexpr int words = tile::side / 4;
        const std::int64_t stride = p.destination.first.row_stride;
        std::uint8_t* const to =
            p.destination.first.data + done.image * p.destination.stride + done.row * stride + done.column;
        const int valid =
            static_cast<int>(p.destination.first.width * p.destination.first.channels) - done.column;
        const int height = static_cast<int>(p.destination.first.height);
#pragma unroll 1
        for (int i = thread; i < tile::side * words; i += group_threads) {
            const int row = i / words;
            const int at = i % words * 4;
            if (done.row + row >= height) break;
            const unsigned word =
                *reinterpret_cast<const unsigned*>(shared + done.place + place_of_result(row, at));
            std::uint8_t* const here = to + row * stride + at;
            if (p.stores_words && at + 4 <= valid)
                *reinterpret_cast<unsigned*>(here) = word;
            else
                for (int b = 0; b < 4 && at + b < valid; ++b)
                    here[b] = static_cast<std::uint8_t>(word >> (8 * b));
        }
    }
};

/// By all that multiply, through addresses of memory, as constants that threads read at different places come one
/// after the other.
template <class Band>
__device__ void copy_band(Band& to, const Band& from) {
    constexpr int words = int{sizeof(Band)} / word;
    static_assert(words <= makers);
    const auto* source = reinterpret_cast<const unsigned*>(&from);
    asm volatile("" : "+l"(source));
    const auto i = threadIdx.x;
    if (i < words) reinterpret_cast<unsigned*>(&to)[i] = source[i];
}

template <bool of_box>
__global__ void __launch_bounds__(tile::threads, 1) blur(const __grid_constant__ parameters p) {
    extern __shared__ __align__(1024) unsigned char storage[];
    ptx::let_next_grid_begin();
    const layout at = lay_out(p.depths_x);
    auto& barriers = *reinterpret_cast<block_barriers*>(storage + at.barriers);
    const int group =
        __shfl_sync(~0u, static_cast<int>(threadIdx.x) / group_threads, 0);  // uniform, as it is
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    if (group == tile::groups) {
        if (thread == 0) barriers.init();
        ptx::sync_threads(barrier_of_loaders, group_threads);
        ptx::arrive_threads(barrier_of_all, tile::threads);
        ptx::release_registers<tile::loader_registers>();
        const loader self{p, at, storage, thread / warp_threads, thread % warp_threads};
        ptx::wait_for_grids_before();
        self.load(walk(p), barriers);
        return;
    }
    auto& along_x = *reinterpret_cast<band_x*>(storage + at.band_x);
    auto& along_y = *reinterpret_cast<band_y*>(storage + at.band_y);
    copy_band(along_x, p.along_x);
    copy_band(along_y, p.along_y);
    ptx::sync_threads(barrier_of_all, tile::threads);
    ptx::claim_registers<tile::group_registers>();
    unsigned char* const x = storage + at.operand_x;
    unsigned char* const y = storage + at.operand_y;
    make_operand<tile::side>(x, x + boxes_of(p.depths_x) * operand::bytes, along_x, p.depths_x,
                             weights_along_x);
    make_operand<tile::depth>(y, y + operand_y::bytes, along_y, 1 + tile::before, weights_along_y);
    ptx::fence_before_copies();  // wgmma reads as copies do
    ptx::sync_threads(barrier_of_groups, makers);
    const multiplier self{p, at, storage, group, thread};
    ptx::wait_for_grids_before();
    self.filter<of_box>(walk(p), barriers.loads);
}

}  // namespace
}  // namespace heddle::kernels::separable_filter::wgmma_xy

namespace heddle::kernels::separable_filter {

void launch_wgmma_xy(const wgmma_xy_plan& plan, const arguments<std::uint8_t>& a,
                                   cudaStream_t stream) {
    using namespace wgmma_xy;
    const whole_weights weights_x =
        plan.is_box ? whole_weights(a.taps_x.count(), 1) : whole_weights(a.taps_x.weights());
    const whole_weights weights_y =
        plan.is_box ? whole_weights(a.taps_y.count(), 256) : whole_weights(a.taps_y.weights());
    const image_view<const std::uint8_t>& from = a.source.first;
    const int channels = static_cast<int>(from.channels);
    parameters p{};
    p.source = a.source;
    p.destination = a.destination;
    p.width = static_cast<int>(from.width);
    p.height = static_cast<int>(from.height);
    p.border = a.border;
    p.border_value = a.border_value;
    p.stores_boxes = plan.stores_boxes;
    p.stores_words = plan.stores_words;
    p.x = static_cast<int>(a.x) * channels;
    p.y = static_cast<int>(a.y);
    p.reach = a.taps_x.radius * channels;
    p.radius_y = a.taps_y.radius;
    p.per_channel = (1 << 16) / channels + 1;
    p.lead = plan.lead;
    p.depths_x = plan.depths_x;
    p.strips = plan.shares.strips;
    p.strip_tiles = plan.shares.strip_tiles;
    std::ranges::copy(plan.shares.first_tiles, p.first_tiles);

    const auto make_map = [](const auto& images, int box_rows, int box_columns) {
        const auto& first = images.first;
        return make_tensor_map(first.data, first.height, first.width * first.channels, first.row_stride,
                               box_rows, box_columns, images.count, images.count > 1 ? images.stride : 0);
    };
    image_batch_view<const std::uint8_t> source = a.source;
    p.has_one_source = source.stride == 0;
    if (p.has_one_source) source.count = 1;
    p.halves = make_map(source, tile::side / 2, operand::row);
    if (p.stores_boxes) p.result = make_map(a.destination, tile::side, tile::side);

    p.of_pixel = 1 / static_cast<float>(a.taps_x.count() * a.taps_y.count());
    const auto take = [](auto& band, const whole_weights& numbers, int count, int first, int step) {
        for (int i = 0; i < count; ++i) {
            band.high[tile::side - 1 + first + i * step] = numbers.high(i);
            band.low[tile::side - 1 + first + i * step] = numbers.low(i);
        }
    };
    take(p.along_x, weights_x, 2 * a.taps_x.radius + 1, p.lead - p.reach, channels);
    take(p.along_y, weights_y, 2 * p.radius_y + 1, tile::before * tile::depth - 2 * p.radius_y, 1);
    p.multiplier_x = weights_x.multiplier();
    p.multiplier_y = weights_y.multiplier();
    p.rounding_y = (1u << 23) + p.multiplier_y / 2;
    launch(config_of(plan.grid, stream), plan.is_box ? blur<true> : blur<false>, p);
}

}  // namespace heddle::kernels::separable_filter
