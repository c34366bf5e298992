#pragma once

#include <cuda_runtime_api.h>

/// Functions of one instruction, which are less exact than those of CUDA's mathematics.
namespace heddle::kernels::ptx {

/// 2^x to within 2 ulp; 0 where the result is less than 2^-126.
__device__ inline float exponential2(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/// 1 / x to within 1 ulp for x between 2^-126 and 2^126; 0 for larger x, infinity included.
__device__ inline float reciprocal(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/// The square root to within a relative 2^-23; 0 for x less than 2^-126.
__device__ inline float square_root(float x) {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

}  // namespace heddle::kernels::ptx
