#pragma once

#include "kernels/device/exponential.cuh"
#include "kernels/device/normal.cuh"
#include "kernels/device/ptx/approximate.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include <heddle/types.hpp>

#include <limits>

/// Activations, each as accurate as a result of type T needs it. docs/accuracy.md derives the errors.
namespace heddle::kernels {

/// n / d for d from 1 to 4, without the branch of a division for very large or small operands. In float the error is little
/// more than half an ulp, as the remainder is exact.
template <class T>
__device__ compute_type<T> quotient(compute_type<T> n, compute_type<T> d) {
    if constexpr (sizeof(T) == 8) {
        return n / d;
    } else {
        const float reciprocal = ptx::reciprocal(d);
        const float q = n * reciprocal;
        if constexpr (sizeof(T) == 2) return q;
        return fmaf(fmaf(-q, d, n), reciprocal, q);
    }
}

/// 1 / (1 + exp(-x)). exp(-|x|) never overflows. For x < 0 the form e / (1 + e) keeps the relative accuracy of small
/// results. In float the rounding of 1 + e does not reach the result. The remainder is taken of q + q e, where n - q is
/// exact because q lies between n / 2 and n.
///
/// For 16 bits the hardware's reciprocal of 2^-16 + 2^-16 exp(-x) is accurate far within half a unit. It is a normal number
/// wherever x times the result rounds to more than 0.
template <class T>
__device__ compute_type<T> logistic(compute_type<T> x) {
    if constexpr (sizeof(T) == 2) {
        constexpr float scale = small_inverse_scale;
        const float scaled = ptx::exponential2(fmaf(-log2_e, x, -small_scale_exponent));
        return ptx::reciprocal(scale + scaled) * scale;
    } else {
        const compute_type<T> e = exponential<T>(-::fabs(x));
        const compute_type<T> n = x < 0 ? e : 1;
        if constexpr (sizeof(T) == 4) {
            const float reciprocal = ptx::reciprocal(1 + e);
            const float q = n * reciprocal;
            const float remainder = fmaf(-q, e, __fsub_rn(n, q));  // not to be fused with the product q
            return fmaf(remainder, reciprocal, q);
        } else {
            return n / (1 + e);
        }
    }
}

/// The derivative of logistic(): logistic(x) * logistic(-x), without cancellation.
template <class T>
__device__ compute_type<T> logistic_slope(compute_type<T> x) {
    const compute_type<T> e = exponential<T>(-::fabs(x));
    return quotient<T>(e, (1 + e) * (1 + e));
}

template <class C>
struct value_and_slope {
    C value, slope;
};

/// logistic() and logistic_slope() of x, with one division.
template <class T>
__device__ value_and_slope<compute_type<T>> logistic_with_slope(compute_type<T> x) {
    using compute = compute_type<T>;
    const compute e = exponential<T>(-::fabs(x));
    const compute larger = quotient<T>(1, 1 + e);
    const compute smaller = e * larger;
    return {x < 0 ? smaller : larger, smaller * larger};
}

/// tanh as accurate as 16 bits need it, within 2^-16. It is 1 - 2 / (1 + exp(2 x)). Near 0, where that cancels, it is the
/// first terms of the series.
__device__ inline float hyperbolic_tangent(float x) {
    constexpr float series_end = 0x1p-4f;
    if (::fabs(x) < series_end) return fmaf(x * x * (-1.0f / 3), x, x);
    return fmaf(-2, ptx::reciprocal(1 + ptx::exponential2(2 * log2_e * x)), 1);
}

/// x * weight, but 0 if the weight is 0, even for an infinite x.
template <class C>
__device__ C weighted(C x, C weight) {
    return weight == 0 ? weight : x * weight;
}

/// gelu_tanh is x * logistic(u(x)).
template <class C>
struct gelu_argument {
    static constexpr C linear = static_cast<C>(1.59576912160573071176);  // 2 sqrt(2 / pi)
    static constexpr C cubic = static_cast<C>(0.044715);

    __device__ static C value(C x) { return linear * x * (1 + cubic * x * x); }
    __device__ static C slope(C x) { return linear * (1 + 3 * cubic * x * x); }
};

template <class T>
__device__ compute_type<T> tanh_of(compute_type<T> x) {
    if constexpr (sizeof(T) == 2)
        return hyperbolic_tangent(x);
    else
        return ::tanh(x);
}

template <class T>
__device__ compute_type<T> gelu_of(compute_type<T> x) {
    if constexpr (sizeof(T) == 8)
        return weighted(x, normal_cdf(x));
    else
        return normal_tail_at<T>(x).x_times_cdf(x);
}

inline constexpr float lowest_float = std::numeric_limits<float>::lowest();

/// For 16 bits x * logistic(u(x)) takes fewer instructions here: the exponent is a polynomial of x. A clamp of x replaces
/// the comparison in weighted(): x is finite where the weight is 0.
template <class T>
__device__ compute_type<T> gelu_tanh_of(compute_type<T> x) {
    using argument = gelu_argument<compute_type<T>>;
    if constexpr (sizeof(T) == 2) {
        constexpr float linear = -log2_e * argument::linear, cubic = linear * argument::cubic;
        constexpr float scale = small_inverse_scale;
        const float exponent = fmaf(fmaf(cubic, x * x, linear), x, -small_scale_exponent);
        const float weight = ptx::reciprocal(scale + ptx::exponential2(exponent)) * scale;
        return ptx::max_nan(x, lowest_float) * weight;
    } else {
        return weighted(x, logistic<T>(argument::value(x)));
    }
}

template <class T>
__device__ compute_type<T> silu_of(compute_type<T> x) {
    return weighted(x, logistic<T>(x));
}

}  // namespace heddle::kernels
