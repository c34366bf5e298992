#pragma once

#include "kernels/device/ptx/mma.cuh"
#include "kernels/matmul/mma_operand.cuh"

#include <cstdint>

namespace heddle::kernels::matmul {

/// The part of mma_sync's tile of C that a warp adds up.
template <class tile>
struct warp_sums {
    static constexpr int parts_m = tile::warp_m / 16, parts_n = tile::warp_n / 16;
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 / tile::warps_n * tile::warp_m;
    const int col = threadIdx.x / 32 % tile::warps_n * tile::warp_n;
    float sums[parts_m][2 * parts_n][4] = {};

    /// The product of two tiles, of which `left` along k are not zeros.
    template <class In, bool a_k_major, bool b_k_major, int unrolled>
    __device__ void add(unsigned char* a_tile, unsigned char* b_tile, std::int64_t left) {
        using a_operand = operand<tile, tile::m, In, a_k_major>;
        using b_operand = operand<tile, tile::n, In, b_k_major>;
#pragma unroll unrolled
        for (int k = 0; k < tile::k; k += 16) {
            if (k >= left) break;
            // Lanes 8 i .. 8 i + 7 give the rows of matrix i: A's second is 8 rows below, B's 8 further along k.
            unsigned as[parts_m][4], bs[parts_n][4];
            const int low = lane % 8, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
#pragma unroll
            for (int i = 0; i < parts_m; ++i) {
                const int m = row + i * 16 + second + (a_k_major ? low : 0);
                ptx::load_matrices<!a_k_major>(as[i],
                                               a_operand::at(a_tile, m, k + third + (a_k_major ? 0 : low)));
            }
#pragma unroll
            for (int j = 0; j < parts_n; ++j) {
                const int n = col + j * 16 + third + (b_k_major ? low : 0);
                ptx::load_matrices<!b_k_major>(bs[j],
                                               b_operand::at(b_tile, n, k + second + (b_k_major ? 0 : low)));
            }
#pragma unroll
            for (int i = 0; i < parts_m; ++i)
#pragma unroll
                for (int j = 0; j < parts_n; ++j) {
                    ptx::mma<In>(sums[i][2 * j], as[i], bs[j][0], bs[j][1]);
                    ptx::mma<In>(sums[i][2 * j + 1], as[i], bs[j][2], bs[j][3]);
                }
        }
    }
};

}  // namespace heddle::kernels::matmul
