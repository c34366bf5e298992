#pragma once

/// Pairs of float32 as bfloat16, rounded to nearest, x in the lower half (compute capability 8.0).
namespace heddle::kernels::ptx {

__device__ inline unsigned to_bfloat16(float2 x) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(x.y), "f"(x.x));
    return result;
}

/// What is beyond the largest number becomes that, with its sign; NaN stays NaN.
__device__ inline unsigned to_finite_bfloat16(float2 x) {
    unsigned result;
    asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(x.y), "f"(x.x));
    return result;
}

}  // namespace heddle::kernels::ptx
