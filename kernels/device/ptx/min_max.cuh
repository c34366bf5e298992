#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// The smaller, and NaN where either is NaN.
__device__ inline float min_nan(float a, float b) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

/// The larger, and NaN where either is NaN.
__device__ inline float max_nan(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

}  // namespace heddle::kernels::ptx
