#pragma once

#include "kernels/device/ptx/approximate.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include <heddle/types.hpp>

namespace heddle::kernels {

/// Constants that find k = x / ln(2), rounded to an integer.
constexpr float log2_e = 1.44269504f;
constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;  // k * ln2_high is exact
constexpr float rounding = 0x1.8p23f;  // x + rounding has no fraction: the integer stands in its low bits
constexpr int exponent_bias = 127;

/// e^x for x <= 0, within 0.9 ulp, denormal results included (tests/elementwise/every_float.cu; docs/accuracy.md). The result
/// of expf may be one ulp from the correctly rounded one, which is too much for a sigmoid within two.
///
/// x = k ln(2) + r, and e^r is the polynomial 1 + r + r^2 / 2 + ... Its coefficients are fitted to a relative error of
/// 2^-28 for |r| <= ln(2) / 2. Below -104 every result rounds to 0.
__device__ inline float exponential_of_negative(float x) {
    constexpr int scale_exponent = 64;  // keeps 2^k a normal number until the last product
    constexpr float bias = rounding + exponent_bias + scale_exponent;

    x = ptx::max_nan(x, -104.0f);
    const float biased = fmaf(x, log2_e, bias);
    const float k = biased - bias;
    const float r = fmaf(k, -ln2_low, fmaf(k, -ln2_high, x));
    float power = 0x1.6b6d78p-10f;
    for (const float coefficient : {0x1.123098p-7f, 0x1.55568ap-5f, 0x1.5554a2p-3f, 0.5f, 1.0f, 1.0f})
        power = fmaf(power, r, coefficient);
    const float scale = __uint_as_float(__float_as_uint(biased) << 23);
    return power * scale * 0x1p-64f;
}

/// For 16 bits this is added to the exponent of e^x, so that no intermediate result is denormal.
constexpr int small_scale_exponent = 16;
constexpr float small_inverse_scale = 0x1p-16f;

/// e^x for x <= 0, as accurate as a result of type T needs it. For 16 bits the error of the hardware's exponential is far
/// below half a unit.
template <class T>
__device__ compute_type<T> exponential(compute_type<T> x) {
    if constexpr (sizeof(T) == 2)
        return ptx::exponential2(fmaf(log2_e, x, small_scale_exponent)) * small_inverse_scale;
    else if constexpr (sizeof(T) == 4)
        return exponential_of_negative(x);
    else
        return ::exp(x);
}

}  // namespace heddle::kernels
