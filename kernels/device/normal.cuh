#pragma once

#include "kernels/device/exponential.cuh"
#include "kernels/device/ptx/approximate.cuh"
#include "kernels/device/ptx/min_max.cuh"

/// The normal distribution function P. docs/accuracy.md derives the errors.
namespace heddle::kernels {

__device__ inline double normal_cdf(double x) {
    return 0.5 * ::erfc(x * -0.70710678118654752440);
}

__device__ inline double normal_density(double x) {
    return 0.39894228040143267794 * ::exp(-0.5 * x * x);
}

/// P(-a) = t * ratio * power * scale for a = min(|x|, 15). Beyond 15, results round to the same as at 15. Power and scale
/// make exp(-a^2 / 2). t = 1 / (a + c) and the ratio make the rest, which is smooth. The scale is too large by 2^40 and the
/// ratio too small by as much. So only the last product rounds a denormal result.
struct normal_tail {
    static constexpr int scale_exponent = 40;
    static constexpr float inverse_scale = 0x1p-40f;

    float a, t, ratio, power, scale;

    /// max(x, 0) - a P(-a), which is x P(x).
    __device__ float x_times_cdf(float x) const { return fmaf(-(a * t * scale * power), ratio, fmaxf(x, 0)); }

    /// P(-a) - a p(a), where p is the density. That is the derivative of x P(x) at -a, and 1 minus its derivative at a.
    __device__ float slope() const {
        constexpr float density_at_zero = 0.398942280f * inverse_scale;
        return fmaf(-density_at_zero, a, t * ratio) * power * scale;
    }
};

/// The ratio is a polynomial in w = a t, because the error of w hardly reaches the ratio near a = 0. It was fitted to a
/// relative error of 2^-25.2 in float and 2^-14.9 for 16 bits. In float the exponent reaches the exponential unrounded: s =
/// a^2 + 2 k ln(2) is -2 r of exponential_of_negative(). The polynomial in s is that function's polynomial in r.
template <class T>
__device__ normal_tail normal_tail_at(float x) {
    constexpr float unscale = normal_tail::inverse_scale;
    constexpr float half_log2_e = 0.5f * log2_e;
    const float a = ptx::min_nan(::fabs(x), 15.0f);
    normal_tail tail{.a = a};
    if constexpr (sizeof(T) == 2) {
        tail.t = ptx::reciprocal(a + 2.65625f);
        tail.power = 1;
        tail.scale = ptx::exponential2(fmaf(-half_log2_e * a, a, normal_tail::scale_exponent));
        const float w = a * tail.t;
        float ratio = -0x1.eb6378p-3f * unscale;
        for (const float coefficient : {0x1.bfea04p-2f, 0x1.6d2aeep-2f, -0x1.7c0ae2p+0f, 0x1.53ff34p+0f})
            ratio = fmaf(ratio, w, coefficient * unscale);
        tail.ratio = ratio;
    } else {
        constexpr float bias = rounding + exponent_bias + normal_tail::scale_exponent;
        const float biased = fmaf(-half_log2_e * a, a, bias);
        const float k = biased - bias;
        const float s = fmaf(k, 2 * ln2_low, fmaf(a, a, k * (2 * ln2_high)));
        tail.scale = __uint_as_float(__float_as_uint(biased) << 23);
        float power = 0x1.6b6d78p-16f;
        for (const float coefficient :
             {-0x1.123098p-12f, 0x1.55568ap-9f, -0x1.5554a2p-6f, 0.125f, -0.5f, 1.0f})
            power = fmaf(power, s, coefficient);
        tail.power = power;
        tail.t = ptx::reciprocal(a + 2.890625f);
        const float w = a * tail.t;
        float ratio = -0x1.4fd01ep-4f * unscale;
        for (const float coefficient : {0x1.e9052ep-3f, -0x1.2d268ep-3f, -0x1.fabb04p-5f, -0x1.9b25d0p-3f,
                                        0x1.1cb6ecp-2f, 0x1.a2120ep-1f, -0x1.e35c80p+0f, 0x1.72p+0f})
            ratio = fmaf(ratio, w, coefficient * unscale);
        tail.ratio = ratio;
    }
    return tail;
}

}  // namespace heddle::kernels
