#pragma once

#include <cuda_fp16.h>

#include <type_traits>

namespace heddle::kernels::ptx {

/// The smaller number, or NaN where either is NaN.
__device__ inline float min_nan(float a, float b) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

/// The larger number, or NaN where either is NaN.
__device__ inline float max_nan(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

/// The larger number in each half of a word of two half or two bfloat16 values; NaN only where both are NaN.
template <class T>
__device__ unsigned max_pair(unsigned a, unsigned b) {
    unsigned result;
    if constexpr (std::is_same_v<T, __half>)
        asm("max.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    else
        asm("max.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

/// The same, but NaN where either is NaN.
template <class T>
__device__ unsigned max_nan_pair(unsigned a, unsigned b) {
    unsigned result;
    if constexpr (std::is_same_v<T, __half>)
        asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    else
        asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

}  // namespace heddle::kernels::ptx
