#pragma once

#include "kernels/device/vector.cuh"

/// Fragments of the kernels that use FFMA: each thread has some rows and columns of a warp's tile, in groups of four.
namespace heddle::kernels {

/// A warp's lanes lie 4 x 8, or 8 x 4, over its tile. Lanes that differ in bit 0 have the same place of the eight. Lanes
/// that differ in bit 1 have the same place of the four. So 16-byte reads of shared memory by a half-warp take one pass.
__device__ inline int lane_of_four(int lane) {
    return (lane & 1) | (lane >> 3 & 2);
}
__device__ inline int lane_of_eight(int lane) {
    return lane >> 1 & 7;
}

/// The place of a thread's element i along m (or n), in elements from the start of the warp's tile. One read fetches a
/// group of four elements.
template <int lanes>
__device__ constexpr int position(int lane, int i) {
    return lane * 4 + i % 4 + i / 4 * (4 * lanes);
}

template <int lanes, int count>
__device__ void load_fragment(float (&fragment)[count], const float* row, int lane) {
#pragma unroll
    for (int i = 0; i < count; i += 4) {
        const auto read = *reinterpret_cast<const vector<float, 4>*>(row + position<lanes>(lane, i));
#pragma unroll
        for (int e = 0; e < 4; ++e) fragment[i + e] = read[e];
    }
}

/// Adds the products of one k, along one row and back along the next. Consecutive FFMAs so share an element: of A within a
/// row, of B at the turn (matmul/pipelined.cu says why).
template <int rows, int cols>
__device__ void multiply(float (&sums)[rows][cols], const float (&a)[rows], const float (&b)[cols]) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int step = 0; step < cols; ++step) {
            const int j = i % 2 == 0 ? step : cols - 1 - step;
            sums[i][j] += a[i] * b[j];
        }
}

/// Swaps neighbours, as sums are kept in memory. A packet is stored from four consecutive registers. So sums of even
/// columns get odd register numbers, the opposite of B's. No FFMA then takes both from one register bank.
__device__ inline vector<float, 4> swapped(const vector<float, 4>& p) {
    return {p[1], p[0], p[3], p[2]};
}

}  // namespace heddle::kernels
