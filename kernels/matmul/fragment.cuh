#pragma once

#include "kernels/device/fragment.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"

#include <cstdint>

/// Stores fragments to C.
namespace heddle::kernels::matmul {

using packet = vector<float, 4>;

/// The old C of four neighbours of a row. `as_packet` says that C's rows begin at multiples of 16 bytes.
template <class Activation>
__device__ packet read_four(const product<float, float, Activation>& p, std::int64_t row, std::int64_t col,
                            bool as_packet) {
    packet result{};
    if (p.beta == 0.0f || row >= p.c.rows) return result;
    if (as_packet && col + 4 <= p.c.cols)
        result = reinterpret_cast<const packet&>(element(p.c, row, col));
    else
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (col + e < p.c.cols) result[e] = element(p.c, row, col + e);
    return result;
}

/// Stores C of four neighbours of a row, whose old values are `old`.
template <class Activation>
__device__ void store_four(const product<float, float, Activation>& p, std::int64_t row, std::int64_t col,
                           const packet& sums, const packet& old, bool as_packet) {
    if (row >= p.c.rows) return;
    packet result;
#pragma unroll
    for (int e = 0; e < 4; ++e)
        result[e] = p.beta == 0.0f ? p.alpha * sums[e] : p.alpha * sums[e] + p.beta * old[e];
    if (as_packet && col + 4 <= p.c.cols)
        reinterpret_cast<packet&>(element(p.c, row, col)) = result;
    else
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (col + e < p.c.cols) element(p.c, row, col + e) = result[e];
}

/// Stores a thread's fragment. A quarter of C is read before any of it is stored, because a load does not pass a store.
template <class Activation, int rows, int cols, class RowOf, class ColOf>
__device__ void store_fragment(const product<float, float, Activation>& p, const float (&sums)[rows][cols],
                               RowOf row_of, ColOf col_of, bool as_packets) {
    constexpr int together = rows < 4 ? rows : rows / 4, packets = cols / 4;
#pragma unroll
    for (int first = 0; first < rows; first += together) {
        packet old[together][packets];
#pragma unroll
        for (int i = 0; i < together; ++i)
#pragma unroll
            for (int j = 0; j < packets; ++j)
                old[i][j] = read_four(p, row_of(first + i), col_of(4 * j), as_packets);
#pragma unroll
        for (int i = 0; i < together; ++i)
#pragma unroll
            for (int j = 0; j < packets; ++j) {
                const float* const four = &sums[first + i][4 * j];
                store_four(p, row_of(first + i), col_of(4 * j), {four[0], four[1], four[2], four[3]},
                           old[i][j], as_packets);
            }
    }
}

/// Stores four neighbours with the product's epilogue.
template <class Activation>
__device__ void finish_four(const product<float, float, Activation>& p, std::int64_t row, std::int64_t col,
                            const float (&sums)[4]) {
    if (row >= p.c.rows || col >= p.c.cols) return;
    const int count = static_cast<int>(::min(std::int64_t{4}, p.c.cols - col));
    float x[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) x[e] = p.alpha * sums[e];
    if (p.beta != 0.0f)
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (e < count) x[e] += p.beta * element(p.c, row, col + e);
    apply_to_elements(p.epilogue, x, [&](int e) { return element_place{row, col + e, e < count}; });
#pragma unroll
    for (int e = 0; e < 4; ++e)
        if (e < count) element(p.c, row, col + e) = x[e];
}

/// Stores a fragment four by four with one copy of the epilogue's code. Each round finds its registers by comparisons.
template <class Activation, int rows, int cols, class RowOf, class ColOf>
__device__ void finish_fragment(const product<float, float, Activation>& p, const float (&sums)[rows][cols],
                                RowOf row_of, ColOf col_of) {
    if (p.beta != 0)  // all of C is prefetched before any of it is needed
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; j += 4)
                if (row_of(i) < p.c.rows && col_of(j) < p.c.cols)
                    ptx::prefetch_to_l2(&element(p.c, row_of(i), col_of(j)));
#pragma unroll 1
    for (int at = 0; at < rows * cols; at += 4) {
        float four[4]{};
#pragma unroll
        for (int i = 0; i < rows * cols; i += 4)
            if (i == at)
#pragma unroll
                for (int e = 0; e < 4; ++e) four[e] = sums[i / cols][i % cols + e];
        finish_four(p, row_of(at / cols), col_of(at % cols), four);
    }
}

}  // namespace heddle::kernels::matmul
