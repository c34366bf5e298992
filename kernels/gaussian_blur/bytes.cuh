#pragma once

#include "kernels/device/ptx/mma.cuh"

#include <cstdint>

/// Shared by the rungs on the tensor cores: weights in the layout of mma's operands, and sums of 32 bits cut into bytes.
namespace heddle::kernels::gaussian_blur {

/// A matrix of 16 x 32 weights in a kernel's parameters. Each lane finds its part of mma's operand at its own index.
struct mma_operand {
    static constexpr int lanes = 32;
    uint4 high[lanes];
    uint4 low[lanes];

    /// Reads by an address of memory: constants that lanes read at different places come one by one.
    __device__ static uint4 of_lane(const uint4 (&bytes)[lanes], int lane) {
        const uint4* from = bytes;
        asm volatile("" : "+l"(from));
        return from[lane];
    }

    /// number(m, k) is the weight of element k in result m.
    template <class Number>
    void set(Number number) {
        constexpr int quad = 4,
                      half = 16;  // elements along k in a register, and in the same register of four lanes
        for (int lane = 0; lane < lanes; ++lane) {
            unsigned high_bytes[4] = {}, low_bytes[4] = {};
            for (int i = 0; i < 4; ++i)
                for (int b = 0; b < quad; ++b) {
                    const unsigned weight = number(lane / 4 + i % 2 * 8, i / 2 * half + lane % 4 * quad + b);
                    high_bytes[i] |= (weight >> 8) << 8 * b;
                    low_bytes[i] |= (weight & 0xff) << 8 * b;
                }
            high[lane] = make_uint4(high_bytes[0], high_bytes[1], high_bytes[2], high_bytes[3]);
            low[lane] = make_uint4(low_bytes[0], low_bytes[1], low_bytes[2], low_bytes[3]);
        }
    }
};

/// sums += weights (16 x 32) * bytes (32 x 8). Each of the two registers holds 16 of the 32 rows.
__device__ inline void add_product(unsigned (&sums)[4], const uint4& weights, unsigned first,
                                   unsigned second) {
    ptx::mma_u8(sums, make_uint2(weights.x, weights.y), first, make_uint2(weights.z, weights.w), second);
}

/// The three upper bytes of each of four sums: `a` has the uppermost ones.
struct upper_bytes {
    unsigned a;
    unsigned b;
    unsigned c;
};
__device__ inline upper_bytes upper_bytes_of(unsigned s0, unsigned s1, unsigned s2, unsigned s3) {
    const unsigned upper = __byte_perm(s0, s1, 0x7362);
    const unsigned lower = __byte_perm(s2, s3, 0x7362);
    return {__byte_perm(upper, lower, 0x7632), __byte_perm(upper, lower, 0x5410),
            __byte_perm(__byte_perm(s0, s1, 0x0051), __byte_perm(s2, s3, 0x0051), 0x5410)};
}
/// Half of the lowest byte's range. Added to a sum, it rounds the upper three bytes.
inline constexpr unsigned half_of_lowest_byte = 1u << 7;

/// The uppermost bytes of four sums in one word, whose lowest byte is that of s0.
__device__ inline unsigned uppermost_bytes(unsigned s0, unsigned s1, unsigned s2, unsigned s3) {
    return __byte_perm(__byte_perm(s0, s1, 0x0073), __byte_perm(s2, s3, 0x0073), 0x5410);
}

}  // namespace heddle::kernels::gaussian_blur
