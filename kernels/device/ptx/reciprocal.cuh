#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// 1 / x to within 1 ulp for x between 2^-126 and 2^126; 0 for larger x, infinity included.
__device__ inline float reciprocal(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

}  // namespace heddle::kernels::ptx
