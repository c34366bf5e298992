#pragma once

#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/gaussian_blur/bytes.cuh"
#include "kernels/gaussian_blur/plan/wgmma_xy.hpp"
#include "kernels/gaussian_blur/wgmma_rows.cuh"

#include <cstdint>

/// The work of a warpgroup of wgmma_xy that multiplies: the bands as operands, both products, and the results.
namespace heddle::kernels::gaussian_blur::wgmma_xy {

inline constexpr int makers = tile::groups * group_threads;

/// Row m of a product is this column of a warpgroup's 64. A thread's two rows are then stored as neighbours.
__device__ inline int column_of(int m) {
    return m / 16 * 16 + m % 8 * 2 + m % 16 / 8;
}
/// Index k of a product along y is this row of a block of 32: the products along x leave the rows in this order.
__device__ inline int row_of(int k) {
    return k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
}

/// The four weights from `first` on.
__device__ inline unsigned four_weights(const std::uint8_t* weights, int first) {
    const auto* const words = reinterpret_cast<const unsigned*>(weights) + first / word;
    return __funnelshift_r(words[0], words[1], 8 * static_cast<unsigned>(first % word));
}
/// Four weights of W_x: of row m from value k on, in the order of its bytes.
__device__ inline unsigned weights_along_x(const std::uint8_t* band, int m, int k) {
    return four_weights(band, tile::side - 1 + k - column_of(m));
}
/// Four weights of W_y: of row n from index k on.
__device__ inline unsigned weights_along_y(const std::uint8_t* band, int n, int k) {
    const int row = tile::side - 1 + k / tile::depth * tile::depth + row_of(k % tile::depth) - n;
    return __byte_perm(four_weights(band, row), four_weights(band, row + 8), 0x5410);
}

/// Makes an operand of `rows` rows from a band, `depths` instructions deep. All threads that multiply call it.
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

/// A thread's part of a block of 32 rows of h^T: three bytes of each value.
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

    /// The means of four sums of pixels. Adding 2^23 rounds them, as a float's last bit then counts 1.
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
        packed_tile done{0, 0, 0, 0, ptx::ordered_before_copies::nothing()};
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
            store(done);  // while the products are under way
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
            const auto ordered =
                p.stores_boxes ? ptx::fence_before_copies() : ptx::ordered_before_copies::nothing();
            done = {place, steps.now.begin + group * tile::side, steps.now.top + steps.step * tile::side,
                    steps.now.image, ordered};
            place += to_other_place;
            to_other_place = -to_other_place;
        }
        store(done);
        if (p.stores_boxes && thread == 0) ptx::wait_for_reads_of_stores<0>();
    }

    /// A tile of results: its place in shared memory, in bytes, and where it belongs in the destination.
    struct packed_tile {
        int place;  ///< 0: none
        int column;
        int row;
        int image;
        ptx::ordered_before_copies ordered;
    };

    /// The place of a byte of results, which are 64 rows of 64 bytes, swizzled.
    __device__ static int place_of_result(int row, int at) {
        return row * tile::side + ((at / 16 ^ row / 2 % 4) * 16) + at % 16;
    }

    /// Stores a tile. The other place of results is free after it.
    __device__ void store(const packed_tile& done) const {
        if (done.place == 0) return;
        if (p.stores_boxes && thread == 0) ptx::wait_for_reads_of_stores<0>();
        ptx::sync_threads(first_group_barrier + group, group_threads);
        if (p.stores_boxes) {
            if (thread > 0) return;
            ptx::store_box(p.result, shared + done.place, done.column, done.row, done.image, done.ordered);
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

}  // namespace heddle::kernels::gaussian_blur::wgmma_xy
