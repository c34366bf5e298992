#pragma once

/// Converts pairs of float32 to bfloat16, rounded to nearest, with x in the lower half (compute capability 8.0).
namespace heddle::kernels::ptx {

__device__ inline unsigned to_bfloat16(float2 x) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(x.y), "f"(x.x));
    return result;
}

/// The same, but values beyond the largest number become that number, with their sign. NaN stays NaN.
__device__ inline unsigned to_finite_bfloat16(float2 x) {
    unsigned result;
    asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(x.y), "f"(x.x));
    return result;
}

}  // namespace heddle::kernels::ptx
