#pragma once

#include "kernels/device/ptx/reciprocal.cuh"
#include "kernels/elementwise/launch.hpp"
#include <heddle/types.hpp>

#include <concepts>

namespace heddle::kernels::elementwise {

/// Arithmetic on the 16-bit types is done in float.
template <class T>
using compute_type = std::conditional_t<std::same_as<T, double>, double, float>;

struct add {
    static constexpr int inputs = 2;

    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(static_cast<compute_type<T>>(x) + static_cast<compute_type<T>>(y));
    }
};

/// exp of -|x| never overflows, and for x < 0 the form e / (1 + e) keeps the small results' relative
/// accuracy.
struct sigmoid {
    static constexpr int inputs = 1;

    __device__ double operator()(double x, double) const {
        const double e = exp(-fabs(x));
        return (x < 0 ? e : 1.0) / (1.0 + e);
    }
    __device__ float operator()(float x, float) const {
        const float e = expf(-fabsf(x));
        return quotient(x < 0 ? e : 1.0f, 1.0f + e);
    }
    /// half and bfloat16: the hardware's exponential and division are far inside the result's half unit.
    template <class T>
    __device__ T operator()(T value, T) const {
        const float x = static_cast<float>(value);
        const float e = __expf(-fabsf(x));
        return static_cast<T>(__fdividef(x < 0 ? e : 1.0f, 1.0f + e));
    }

  private:
    /// n / d for d from 1 to 2, to little more than half an ulp, as the remainder is exact: a division
    /// without its branch for operands that are very large or small.
    __device__ static float quotient(float n, float d) {
        const float reciprocal = ptx::reciprocal(d);
        const float q = n * reciprocal;
        return fmaf(fmaf(-q, d, n), reciprocal, q);
    }
};

}  // namespace heddle::kernels::elementwise
