#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/matmul/launch.hpp"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>

/// Splits float32 into two pieces of half, and a power of two for each 64 along k, before fp16x3 multiplies.
namespace heddle::kernels::matmul::fp16x3 {

constexpr int pieces = split_layout::pieces;

/// The split form of A or B, with rows as stored, which lie along k or across it.
struct split_operand {
    matrix_view<const float> from;
    half* to;       ///< first pieces, then second ones
    float* powers;  ///< by which the sums are multiplied
    split_layout layout;
    /// A's powers are multiplied by 2^-14, and B's by its inverse. Then no power leaves float's range, and neither does a sum
    /// times A's power, unless elements of A exceed 2^118.
    float balance;
    unsigned blocks_across;
};

constexpr int run = 4;  ///< neighbours that a thread reads at once

/// Elements of row `row` from `col` on; zeros outside of the matrix.
__device__ inline float4 read_run(const matrix_view<const float>& m, std::int64_t row, std::int64_t col,
                                  bool is_aligned) {
    const float* const at = m.data + row * m.row_stride + col * m.col_stride;
    if (row < m.rows && col + run <= m.cols && is_aligned) return __ldg(reinterpret_cast<const float4*>(at));
    const auto element = [&](int i) {
        return row < m.rows && col + i < m.cols ? __ldg(at + i * m.col_stride) : 0;
    };
    return {element(0), element(1), element(2), element(3)};
}

/// The larger magnitude; infinities and NaN are ignored.
__device__ inline float larger(float largest, float x) {
    return isfinite(x) ? fmaxf(largest, fabsf(x)) : largest;
}

/// Two powers of two as floats: one brings numbers of at most `largest` below 2^15, and the other is its inverse.
struct power {
    float to_pieces;
    float back;

    __device__ explicit power(float largest) {
        constexpr int bias = 127, mantissa_bits = 23, wanted = 14,
                      most = 253;  // else `back` would be denormal
        const int exponent = __float_as_int(largest) >> mantissa_bits;
        const int biased = ::min(2 * bias + wanted - exponent, most);
        to_pieces = __int_as_float(biased << mantissa_bits);
        back = __int_as_float((2 * bias - biased) << mantissa_bits);
    }
};

__device__ inline void store_pieces(const split_operand& p, std::int64_t row, std::int64_t col,
                                    const float4& x, const float (&scale)[run]) {
    if (row >= p.from.rows || col >= p.from.cols) return;
    const float scaled[run] = {x.x * scale[0], x.y * scale[1], x.z * scale[2], x.w * scale[3]};
    half2 to[pieces][run / 2];
#pragma unroll
    for (int i = 0; i < run; i += 2) {
        to[0][i / 2] = __floats2half2_rn(scaled[i], scaled[i + 1]);
        const float2 rounded = __half22float2(to[0][i / 2]);
        to[1][i / 2] = __floats2half2_rn(scaled[i] - rounded.x, scaled[i + 1] - rounded.y);
    }
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece)
        *reinterpret_cast<uint2*>(p.to + piece * p.layout.piece_stride + row * p.layout.stride + col) =
            *reinterpret_cast<const uint2*>(to[piece]);
}

constexpr int split_threads = 256;
constexpr int runs_along_k = step_k / run;

/// For rows along k: sixteen threads have 64 elements of a row, and a block has 64 rows.
constexpr int rows_of_block = 64;
static __global__ void __launch_bounds__(split_threads)
    split_along_k(const __grid_constant__ split_operand p, bool is_aligned) {
    constexpr int down = split_threads / runs_along_k, passes = rows_of_block / down;
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t k_block = blockIdx.x % p.blocks_across;
    const std::int64_t first =
        std::int64_t{blockIdx.x / p.blocks_across} * rows_of_block + thread / runs_along_k;
    const std::int64_t col = k_block * step_k + thread % runs_along_k * run;
    float4 x[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) x[i] = read_run(p.from, first + i * down, col, is_aligned);
#pragma unroll
    for (int i = 0; i < passes; ++i) {
        float largest = larger(larger(larger(larger(0, x[i].x), x[i].y), x[i].z), x[i].w);
#pragma unroll
        for (int offset = runs_along_k / 2; offset > 0; offset /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
        const power scale(largest);
        const std::int64_t row = first + i * down;
        store_pieces(p, row, col, x[i], {scale.to_pieces, scale.to_pieces, scale.to_pieces, scale.to_pieces});
        if (thread % runs_along_k == 0 && row < p.layout.power_stride)
            p.powers[k_block * p.layout.power_stride + row] = scale.back * p.balance;
    }
}

/// For rows across k: a block has 64 along k of 64 columns.
constexpr int cols_of_block = 64;
static __global__ void __launch_bounds__(split_threads)
    split_across_k(const __grid_constant__ split_operand p, bool is_aligned) {
    constexpr int across = cols_of_block / run, down = split_threads / across, passes = step_k / down;
    constexpr int warps = split_threads / warp_size;
    __shared__ float4 warp_largest[warps][across];
    const int thread = static_cast<int>(threadIdx.x), place = thread % across;
    const std::int64_t k_block = blockIdx.x / p.blocks_across;
    const std::int64_t first = k_block * step_k + thread / across;
    const std::int64_t col = std::int64_t{blockIdx.x % p.blocks_across} * cols_of_block + place * run;
    float4 x[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) x[i] = read_run(p.from, first + i * down, col, is_aligned);
    float4 largest{};
    const auto gather = [&](const float4& other) {
        largest = {larger(largest.x, other.x), larger(largest.y, other.y), larger(largest.z, other.z),
                   larger(largest.w, other.w)};
    };
#pragma unroll
    for (int i = 0; i < passes; ++i) gather(x[i]);
    static_assert(2 * across == warp_size);
    gather({__shfl_xor_sync(~0u, largest.x, across), __shfl_xor_sync(~0u, largest.y, across),
            __shfl_xor_sync(~0u, largest.z, across), __shfl_xor_sync(~0u, largest.w, across)});
    if (thread % warp_size < across) warp_largest[thread / warp_size][place] = largest;
    ptx::sync_threads();
#pragma unroll
    for (int i = 0; i < warps; ++i) gather(warp_largest[i][place]);
    const power scales[run] = {power(largest.x), power(largest.y), power(largest.z), power(largest.w)};
#pragma unroll
    for (int i = 0; i < passes; ++i)
        store_pieces(p, first + i * down, col, x[i],
                     {scales[0].to_pieces, scales[1].to_pieces, scales[2].to_pieces, scales[3].to_pieces});
    if (thread < across && col < p.layout.power_stride)
        *reinterpret_cast<float4*>(p.powers + k_block * p.layout.power_stride + col) = {
            scales[0].back * p.balance, scales[1].back * p.balance, scales[2].back * p.balance,
            scales[3].back * p.balance};
}

/// Takes its memory from the workspace at `free`, which is moved past it.
inline split_operand lay_out(const matrix_view<const float>& from, bool along_k, int tile_extent,
                             float balance, std::byte*& free) {
    const std::int64_t extent = along_k ? from.rows : from.cols, k = along_k ? from.cols : from.rows;
    const split_layout layout = lay_out_split(extent, tile_extent, k, along_k);
    half* const to = reinterpret_cast<half*>(free);
    free += layout.bytes;
    const std::int64_t across =
        along_k ? divide_up(k, step_k) : divide_up(layout.power_stride, cols_of_block);
    return {from,   to,      reinterpret_cast<float*>(to + pieces * layout.piece_stride),
            layout, balance, static_cast<unsigned>(across)};
}

inline void launch_split(const split_operand& p, bool along_k, cudaStream_t stream) {
    const std::int64_t k = along_k ? p.from.cols : p.from.rows;
    const std::int64_t blocks =
        divide_up(k, step_k) * divide_up(p.layout.power_stride, along_k ? rows_of_block : cols_of_block);
    kernels::launch({.blocks = {blocks}, .threads = {split_threads}, .stream = stream},
                    along_k ? split_along_k : split_across_k, p, has_tensor_rows(p.from));
}

}  // namespace heddle::kernels::matmul::fp16x3
