#pragma once

#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/plan/stream_mma_kernel.hpp"

#include <mma.h>

#include <cstdint>
#include <type_traits>

/// The strip of 32 x 64 that a warp of stream_mma multiplies and stores.
namespace heddle::kernels::matmul {

/// Reads four matrices of 8 rows, along m or n, by 16 bytes along k: rows 0..7 and 8..15, and then the same of the next 16
/// bytes. They are an operand A of an instruction. The even ones and the odd ones are an operand B each.
template <bool by_k, class In>
__device__ void read_fragment(unsigned (&to)[4], const In* tile, int stride, int position, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int part = 16 / static_cast<int>(sizeof(In));
    if constexpr (by_k)
        ptx::load_matrices<false>(to, tile + (position + lane % 16) * stride + k + lane / 16 * part);
    else if constexpr (sizeof(In) == 2)
        ptx::load_matrices<true>(
            to, tile + (k + lane / 16 * part + lane % 8) * stride + position + lane / 8 % 2 * 8);
    else
#pragma unroll
        for (int i = 0; i < 4; ++i)
            to[i] = __float_as_uint(
                tile[(k + i / 2 * part + lane % 4) * stride + position + i % 2 * 8 + lane / 4]);
    if constexpr (std::is_same_v<In, float>)
#pragma unroll
        for (unsigned& x : to) x = __float_as_uint(nvcuda::wmma::__float_to_tf32(__uint_as_float(x)));
}

/// The sums of a warp: two times 16 rows, and 64 columns.
using strip_sums = float[2][8][4];

/// Adds the products of at least `rows` rows and `columns` columns.
template <bool a_by_k, bool b_by_k, class In>
__device__ void multiply_strip(strip_sums& sums, const In* a, int a_stride, int a_position, const In* b,
                               int b_stride, int b_position, int depth, std::int64_t rows, int columns) {
    constexpr int step = 32 / static_cast<int>(sizeof(In));
    const bool has_second = rows > 16;
#pragma unroll 1
    for (int k = 0; k < depth; k += step) {
        unsigned as[2][4], bs[4][4];
        read_fragment<a_by_k>(as[0], a, a_stride, a_position, k);
        if (has_second) read_fragment<a_by_k>(as[1], a, a_stride, a_position + 16, k);
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (16 * j < columns) read_fragment<b_by_k>(bs[j], b, b_stride, b_position + 16 * j, k);
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (16 * j >= columns || (i > 0 && !has_second)) continue;
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    if constexpr (sizeof(In) == 4)
                        ptx::mma_tf32(sums[i][2 * j + half], as[i], bs[j][half], bs[j][half + 2]);
                    else
                        ptx::mma<In>(sums[i][2 * j + half], as[i], bs[j][half], bs[j][half + 2]);
            }
    }
}

/// Puts 16 rows of a warp's sums into its part of shared memory.
__device__ inline void stage_sums(const float (&sums)[8][4], float* to) {
    constexpr int stride = stream_mma_kernel::staged_stride;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    to += lane / 4 * stride + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            *reinterpret_cast<float2*>(to + half * 8 * stride + 8 * j) =
                make_float2(sums[j][2 * half], sums[j][2 * half + 1]);
}

/// Stores a warp's strip at (row, col) of C, of at most 16 rows and 64 columns. Lanes store words of 4 bytes. If a row of
/// 16-bit elements begins within a word, the lane of its first element also stores its last one. If is_plain, C is alpha
/// times the sums.
template <bool is_plain, class In, class Out>
__device__ void store_strip(const product<In, Out>& p, const float* staged, Out* c, std::int64_t row,
                            std::int64_t col, int rows, int cols, int word_shift) {
    constexpr int per_word = 4 / static_cast<int>(sizeof(Out)), count = 8, together = count / per_word;
    const int lane = static_cast<int>(threadIdx.x) % 32, words = 1 << word_shift, all = rows << word_shift;
    const bool is_dense = p.c.col_stride == 1, swaps = per_word == 2 && lane >= 16;
    c += row * p.c.row_stride + col * p.c.col_stride;
#pragma unroll 1
    for (int first = lane; first < all; first += together * 32) {
        float x[count] = {};
        int places[count];
        const auto each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int index = first + i * 32, line = index >> word_shift;
                if (index >= all) continue;
                Out* const to = c + line * p.c.row_stride;
                const int within =
                    per_word == 2 && is_dense ? reinterpret_cast<std::uintptr_t>(to) / 2 % 2 : 0;
                function(i * per_word, line, to, (index & (words - 1)) * per_word - within);
            }
        };
        for (int& place : places) place = -1;
        each([&](int i, int line, const Out* from, int at) {
            const int ats[2] = {at < 0 ? words * per_word - 1 : at, at + 1};
            // Half of the lanes read their second element first, so that elements two apart do not share a bank.
            const float* const sums_of_row = staged + line * stream_mma_kernel::staged_stride;
            const float one = sums_of_row[swaps ? ats[1] : ats[0]];
            const float other = per_word == 2 ? sums_of_row[swaps ? ats[0] : ats[1]] : 0;
            const float both[2] = {swaps ? other : one, swaps ? one : other};
#pragma unroll
            for (int n = 0; n < per_word; ++n) {
                if (ats[n] >= cols) continue;
                places[i + n] = line * 64 + ats[n];
                x[i + n] = p.alpha * both[n];
                if (!is_plain && p.beta != 0)
                    x[i + n] += p.beta * static_cast<float>(from[ats[n] * p.c.col_stride]);
            }
        });
        if constexpr (!is_plain) {
            const auto place = [&](int i) {
                return element_place{row + places[i] / 64, col + places[i] % 64, places[i] >= 0};
            };
            if (!p.epilogue.is_identity) apply_to_elements(p.epilogue, x, place);
        }
        each([&](int i, int line, Out* to, int at) {
            if constexpr (per_word == 2)
                if (is_dense && at >= 0 && places[i + 1] >= 0) {
                    *reinterpret_cast<vector<Out, 2>*>(to + at) = {static_cast<Out>(x[i]),
                                                                   static_cast<Out>(x[i + 1])};
                    return;
                }
#pragma unroll
            for (int n = 0; n < per_word; ++n)
                if (places[i + n] >= 0) to[places[i + n] % 64 * p.c.col_stride] = static_cast<Out>(x[i + n]);
        });
    }
}

/// The same with C and an epilogue. Not inlined, because it is long.
template <class In, class Out>
__device__ __noinline__ void finish_strip(const product<In, Out>& p, const float* staged, Out* c,
                                          std::int64_t row, std::int64_t col, int rows, int cols,
                                          int word_shift) {
    store_strip<false>(p, staged, c, row, col, rows, cols, word_shift);
}

/// Prefetches 32 rows of 64 columns, from (row, col) on, into L2, but nothing outside of the matrix.
template <class Out>
__device__ void prefetch_strip(const matrix_view<const Out>& m, std::int64_t row, std::int64_t col) {
    constexpr int sector = 32 / static_cast<int>(sizeof(Out)), across = 64 / sector;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x) % 32; i < 32 * across; i += 32) {
        const std::int64_t r = row + i / across, s = col + i % across * sector;
        if (r < m.rows && s < m.cols) ptx::prefetch_to_l2(&element(m, r, s));
    }
}

}  // namespace heddle::kernels::matmul
