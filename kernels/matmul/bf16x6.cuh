#pragma once

#include "kernels/device/ptx/bfloat16.cuh"
/// Elements in three pieces of bfloat16.
namespace heddle::kernels::matmul {

constexpr int pieces = 3;  ///< of an element

/// An infinite element has two finite pieces and an infinite last one.
__device__ inline void split(float2 x, unsigned (&to)[pieces]) {
    const auto subtract = [&](unsigned piece) {
        x.x -= __uint_as_float(piece << 16);
        x.y -= __uint_as_float(piece & 0xffff0000);
    };
    to[0] = ptx::to_finite_bfloat16(x);
    subtract(to[0]);
    to[1] = ptx::to_finite_bfloat16(x);
    subtract(to[1]);
    to[2] = ptx::to_bfloat16(x);
}

}  // namespace heddle::kernels::matmul
