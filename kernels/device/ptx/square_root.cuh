#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// The square root to within a relative 2^-23; 0 for x less than 2^-126.
__device__ inline float square_root(float x) {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

}  // namespace heddle::kernels::ptx
