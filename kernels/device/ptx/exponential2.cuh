#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// 2^x to within 2 ulp; 0 where the result is less than 2^-126.
__device__ inline float exponential2(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

}  // namespace heddle::kernels::ptx
