#pragma once

#include "kernels/device/vector.cuh"

#include <cstdint>

namespace heddle::kernels::transpose {

/// Transposes a square patch in registers: packet r holds row r before, and column r after. Elements have
/// `element_bytes`; a packet has as many as there are packets. Elements of 4 and 8 bytes only change names.
template <int element_bytes, class Packet, int width>
__device__ void turn_over(Packet (&patch)[width]) {
    static_assert(width * element_bytes == sizeof(Packet));
    if constexpr (width > 1) {
        static_assert(sizeof(Packet) % sizeof(std::uint32_t) == 0);
        constexpr int words = sizeof(Packet) / sizeof(std::uint32_t);
        Packet turned[width];
        if constexpr (element_bytes >= 4) {
            constexpr int parts = element_bytes / 4;
#pragma unroll
            for (int row = 0; row < width; ++row)
#pragma unroll
                for (int word = 0; word < words; ++word)
                    turned[word / parts][row * parts + word % parts] = patch[row][word];
        } else if constexpr (element_bytes == 2) {
#pragma unroll
            for (int i = 0; i < words; ++i)
#pragma unroll
                for (int j = 0; j < words; ++j) {
                    const std::uint32_t upper = patch[2 * i][j], lower = patch[2 * i + 1][j];
                    turned[2 * j][i] = __byte_perm(upper, lower, 0x5410);
                    turned[2 * j + 1][i] = __byte_perm(upper, lower, 0x7632);
                }
        } else {
#pragma unroll
            for (int i = 0; i < words; ++i)
#pragma unroll
                for (int j = 0; j < words; ++j) {
                    // Four rows of the bytes a b c d: first pairs of rows, then pairs of pairs.
                    const std::uint32_t row_0 = patch[4 * i][j], row_1 = patch[4 * i + 1][j];
                    const std::uint32_t row_2 = patch[4 * i + 2][j], row_3 = patch[4 * i + 3][j];
                    const std::uint32_t upper_ab = __byte_perm(row_0, row_1, 0x5140);
                    const std::uint32_t upper_cd = __byte_perm(row_0, row_1, 0x7362);
                    const std::uint32_t lower_ab = __byte_perm(row_2, row_3, 0x5140);
                    const std::uint32_t lower_cd = __byte_perm(row_2, row_3, 0x7362);
                    turned[4 * j][i] = __byte_perm(upper_ab, lower_ab, 0x5410);
                    turned[4 * j + 1][i] = __byte_perm(upper_ab, lower_ab, 0x7632);
                    turned[4 * j + 2][i] = __byte_perm(upper_cd, lower_cd, 0x5410);
                    turned[4 * j + 3][i] = __byte_perm(upper_cd, lower_cd, 0x7632);
                }
        }
#pragma unroll
        for (int row = 0; row < width; ++row) patch[row] = turned[row];
    }
}

}  // namespace heddle::kernels::transpose
