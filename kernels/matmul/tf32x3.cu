// tf32x3: computes a float32 product as three tf32 products on the tensor cores of compute capability 8.0 and later.
//
//   x = high + low: high is x rounded to the 11 bits of tf32, and low is the remainder, of which tf32 lacks one bit
//   a b = high high + (high low + low high), up to an error of less than 2^-21 |a b|
//
//   a block has 128 x 64 of C, a warp 64 x 32: 4 x 4 instructions of 16 x 8 x 8 for each product; k by 16, four stages
//
// Tiles are loaded by cp.async in their order in memory, as in pipelined. Fragments of tiles along k are read by ldmatrix,
// the others by single loads. A thread splits its fragments in registers. The tensor cores truncate sums instead of
// rounding them. So the small products come first, sums begin at zero every 16 of k, and FADD adds each to a total. An
// infinite element cannot be split, so a sum that is infinite or NaN is computed again by FMAs. What limits it: only two
// warps on each quarter of a multiprocessor, with registers full of sums, wait for fragments and products.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/orders.cuh"
#include "kernels/matmul/tile_loader.cuh"

#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;

struct tile {
    static constexpr int m = tf32x3_m;
    static constexpr int n = tf32x3_n;
    static constexpr int k = tf32x3_k;
    static constexpr int warp_m = 64;
    static constexpr int warp_n = 32;
    static constexpr int warps_n = n / warp_n;
    static constexpr int threads = m / warp_m * warps_n * warp;
    static constexpr int stages = 4;
    static constexpr int blocks_per_sm = 2;
    static constexpr int parts_m = warp_m / 16;
    static constexpr int parts_n = warp_n / 8;
    static constexpr int part_k = 8;
    static constexpr int sums = 4;  ///< of a thread in a part
    static constexpr int all_sums = parts_m * parts_n * sums;
};

/// A thread's elements of 16 along m or n by 8 along k. For A these are an operand of mma_tf32(), for B two operands, whose
/// elements alternate.
using fragment = unsigned[4];

struct split_fragment {
    fragment high, low;
};

/// Infinities and NaN give arbitrary results.
__device__ unsigned round_to_tf32(float x) {
    constexpr unsigned unit = 1 << 13;
    return (__float_as_uint(x) + unit / 2) & ~(unit - 1);
}

__device__ void split(const fragment& from, split_fragment& to) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float x = __uint_as_float(from[i]);
        to.high[i] = round_to_tf32(x);
        to.low[i] = __float_as_uint(x - __uint_as_float(to.high[i]));
    }
}

/// An operand's tile of `extent` (along m or n) by k in shared memory. Gaps after its rows avoid bank conflicts of reads.
template <int extent, bool k_major>
struct operand {
    static constexpr int rows = k_major ? extent : tile::k;
    static constexpr int cols = k_major ? tile::k : extent;
    static constexpr int row_stride = cols + (k_major ? 4 : 8);
    static constexpr int size = rows * row_stride;

    template <int width>
    using loader = tile_loader<rows, cols, row_stride, k_major, width, tile::threads>;

    static __device__ void read(fragment& to, const float* tile_begin, int position, int k) {
        const int lane = threadIdx.x % warp;
        if constexpr (k_major) {
            ptx::load_matrices<false>(to,
                                      tile_begin + (position + lane % 16) * row_stride + k + lane / 16 * 4);
        } else {
            const float* const first = tile_begin + (k + lane % 4) * row_stride + position + lane / 4;
#pragma unroll
            for (int i = 0; i < 4; ++i) to[i] = __float_as_uint(first[i / 2 * 4 * row_stride + i % 2 * 8]);
        }
    }
};

__device__ float sum_of_fmas(const arguments& p, std::int64_t row, std::int64_t col) {
    float sum = 0;
    for (std::int64_t k = 0; k < p.a.cols; ++k) sum = fmaf(element(p.a, row, k), element(p.b, k, col), sum);
    return sum;
}

/// Tiles of A and B have contiguous rows: those of k-major operands are (m or n) x k, and others k x (m or n).
template <bool a_k_major, bool b_k_major, int width>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    tf32x3(arguments p, matrix_view<const float> a, matrix_view<const float> b) {
    using a_tile = operand<tile::m, a_k_major>;
    using b_tile = operand<tile::n, b_k_major>;
    extern __shared__ float4 storage[];
    float* const a_stages = reinterpret_cast<float*>(storage);
    float* const b_stages = a_stages + tile::stages * a_tile::size;

    // locate
    const tile_position position = grouped<tile>(p);
    const std::int64_t row = position.row * tile::m;
    const std::int64_t col = position.col * tile::n;
    const int lane = threadIdx.x % warp;
    const int warp_row = threadIdx.x / warp / tile::warps_n * tile::warp_m;
    const int warp_col = threadIdx.x / warp % tile::warps_n * tile::warp_n;

    // load
    typename a_tile::template loader<width> a_loader(a, a_k_major ? row : 0, a_k_major ? 0 : row);
    typename b_tile::template loader<width> b_loader(b, b_k_major ? col : 0, b_k_major ? 0 : col);
    const auto load = [&](int stage) {
        a_loader.copy_async(a_stages + stage * a_tile::size);
        b_loader.copy_async(b_stages + stage * b_tile::size);
    };
    const std::int64_t tiles = (p.a.cols + tile::k - 1) / tile::k;
#pragma unroll
    for (int stage = 0; stage < tile::stages - 1; ++stage) {
        if (stage < tiles) load(stage);
        ptx::cp_async_commit_group();
    }

    // compute
    float total[tile::parts_m][tile::parts_n][tile::sums] = {};
    int stage = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        // Now this tile has arrived for all, and all are done with the tile that is overwritten next.
        ptx::sync_threads();
        const float* const a_now = a_stages + stage * a_tile::size;
        const float* const b_now = b_stages + stage * b_tile::size;
        fragment a_read[tile::parts_m], b_read[tile::parts_n / 2];
        const auto read = [&](int k) {
#pragma unroll
            for (int i = 0; i < tile::parts_m; ++i) a_tile::read(a_read[i], a_now, warp_row + 16 * i, k);
#pragma unroll
            for (int j = 0; j < tile::parts_n / 2; ++j) b_tile::read(b_read[j], b_now, warp_col + 16 * j, k);
        };
        read(0);
        // After the last tile this reads nothing and stores zeros. Without a branch, these instructions mix with the others.
        load(stage == 0 ? tile::stages - 1 : stage - 1);
        ptx::cp_async_commit_group();

        constexpr int parts_k = tile::k / tile::part_k;
        split_fragment as[parts_k][tile::parts_m], bs[parts_k][tile::parts_n / 2];
        float sums[tile::parts_m][tile::parts_n][tile::sums] = {};
        const auto multiply = [&](int part, fragment split_fragment::*a_part,
                                  fragment split_fragment::*b_part) {
#pragma unroll
            for (int i = 0; i < tile::parts_m; ++i)
#pragma unroll
                for (int j = 0; j < tile::parts_n; ++j) {
                    const fragment& both = bs[part][j / 2].*b_part;
                    ptx::mma_tf32(sums[i][j], as[part][i].*a_part, both[j % 2], both[j % 2 + 2]);
                }
        };
#pragma unroll
        for (int part = 0; part < parts_k; ++part) {
#pragma unroll
            for (int j = 0; j < tile::parts_n / 2; ++j) split(b_read[j], bs[part][j]);
#pragma unroll
            for (int i = 0; i < tile::parts_m; ++i) split(a_read[i], as[part][i]);
            if (part + 1 < parts_k) read((part + 1) * tile::part_k);
            multiply(part, &split_fragment::low, &split_fragment::high);
            multiply(part, &split_fragment::high, &split_fragment::low);
        }
#pragma unroll
        for (int part = 0; part < parts_k; ++part)
            multiply(part, &split_fragment::high, &split_fragment::high);
#pragma unroll
        for (int i = 0; i < tile::parts_m; ++i)
#pragma unroll
            for (int j = 0; j < tile::parts_n; ++j)
#pragma unroll
                for (int e = 0; e < tile::sums; ++e) total[i][j][e] += sums[i][j][e];
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
    }
    ptx::cp_async_wait_group<0>();

    // store; `index` counts through the sums of all parts
    const auto row_of = [&](int index) {
        return row + warp_row + index / (tile::parts_n * tile::sums) * 16 + index / 2 % 2 * 8 + lane / 4;
    };
    const auto col_of = [&](int index) {
        return col + warp_col + index / tile::sums % tile::parts_n * 8 + lane % 4 * 2 + index % 2;
    };
    std::uint64_t not_finite = 0;
    static_assert(tile::all_sums <= 64);
#pragma unroll
    for (int i = 0; i < tile::all_sums; ++i) {
        const float sum =
            total[i / (tile::parts_n * tile::sums)][i / tile::sums % tile::parts_n][i % tile::sums];
        if (isfinite(sum))
            store(p, row_of(i), col_of(i), sum);
        else
            not_finite |= std::uint64_t{1} << i;
    }
    for (; not_finite != 0; not_finite &= not_finite - 1) {
        const int i = __ffsll(static_cast<long long>(not_finite)) - 1;
        if (row_of(i) < p.c.rows && col_of(i) < p.c.cols)
            store(p, row_of(i), col_of(i), sum_of_fmas(p, row_of(i), col_of(i)));
    }
}

}  // namespace

void launch_tf32x3(const plan&, const arguments& p, cudaStream_t stream) {
    const bool a_k_major = has_contiguous_rows(p.a), b_k_major = !has_contiguous_rows(p.b);
    const matrix_view<const float> a = a_k_major ? p.a : transposed(p.a);
    const matrix_view<const float> b = b_k_major ? transposed(p.b) : p.b;
    const auto with = [&]<int width>() {
        with_orders(a_k_major, b_k_major, [&]<bool a_major, bool b_major>() {
            constexpr int bytes = tile::stages * static_cast<int>(sizeof(float)) *
                                  (operand<tile::m, a_major>::size + operand<tile::n, b_major>::size);
            launch({.blocks = {tile_count(p, tile::m, tile::n)},
                    .threads = {tile::threads},
                    .shared_bytes = bytes,
                    .shared_limit = bytes,
                    .stream = stream},
                   tf32x3<a_major, b_major, width>, p, a, b);
        });
    };
    has_packets(a) && has_packets(b) ? with.template operator()<4>() : with.template operator()<1>();
}

}  // namespace heddle::kernels::matmul
