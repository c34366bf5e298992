#pragma once

#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/ptx/reciprocal.cuh"
#include "kernels/elementwise/launch.hpp"
#include <heddle/types.hpp>

namespace heddle::kernels::elementwise {

template <class T>
__device__ compute_type<T> widen(T x) {
    return static_cast<compute_type<T>>(x);
}

/// e^x for x <= 0, within 0.9 ulp, denormal results included (tests/every_float.cu; docs/accuracy.md). expf is
/// within one ulp of the correctly rounded result, which is too much for a sigmoid within two.
///
/// x = k ln(2) + r, and e^r is a polynomial: 1 + r + r^2 / 2 and on, its coefficients fitted to a relative error
/// of 2^-28 for |r| <= ln(2) / 2. Below -104 every result rounds to 0.
__device__ inline float exponential_of_negative(float x) {
    constexpr float log2_e = 1.44269504f;
    constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;  // k * ln2_high is exact
    constexpr float rounding = 0x1.8p23f;  // a sum with it has no fraction; k stands in its low bits
    constexpr int scale_exponent = 64;     // keeps 2^k among the normal numbers until the last product
    constexpr float bias = rounding + 127 + scale_exponent;

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

/// e^x for x <= 0, as exactly as T's result needs it: the hardware's exponential is far inside half a unit of
/// 16 bits.
template <class T>
__device__ compute_type<T> exponential(compute_type<T> x) {
    if constexpr (sizeof(T) == 2)
        return __expf(x);
    else if constexpr (sizeof(T) == 4)
        return exponential_of_negative(x);
    else
        return ::exp(x);
}

/// n / d for d from 1 to 4. In float to little more than half an ulp, as the remainder is exact: a division
/// without its branch for operands that are very large or small.
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

/// 1 / (1 + exp(-x)). exp of -|x| never overflows, and for x < 0 the form e / (1 + e) keeps the small results'
/// relative accuracy. In float the rounding of 1 + e does not reach the result: the remainder is taken of
/// q + q e, where n - q is exact as q is n / 2 to n.
template <class T>
__device__ compute_type<T> logistic(compute_type<T> x) {
    const compute_type<T> e = exponential<T>(-::fabs(x));
    const compute_type<T> n = x < 0 ? e : 1;
    if constexpr (sizeof(T) == 4) {
        const float reciprocal = ptx::reciprocal(1 + e);
        const float q = n * reciprocal;
        const float remainder = fmaf(-q, e, __fsub_rn(n, q));  // not to be fused with the product q
        return fmaf(remainder, reciprocal, q);
    } else {
        return quotient<T>(n, 1 + e);
    }
}

/// The derivative of logistic(): logistic(x) * logistic(-x), without cancellation.
template <class T>
__device__ compute_type<T> logistic_slope(compute_type<T> x) {
    const compute_type<T> e = exponential<T>(-::fabs(x));
    return quotient<T>(e, (1 + e) * (1 + e));
}

/// x * weight, where a weight of 0 wins over an infinite x.
template <class C>
__device__ C weighted(C x, C weight) {
    return weight == 0 ? weight : x * weight;
}

/// The normal distribution's density at x.
template <class T>
__device__ compute_type<T> normal_density(compute_type<T> x) {
    using compute = compute_type<T>;
    constexpr auto at_zero = static_cast<compute>(0.39894228040143267794);
    const compute exponent = static_cast<compute>(-0.5) * x * x;
    return at_zero * (sizeof(T) == 2 ? exponential<T>(exponent) : ::exp(exponent));
}

/// P(-a) / exp(-a^2 / 2) for a >= 0, P being the normal distribution function: a polynomial in 1 / (a + 3.25) that
/// was fitted to within a relative 2^-17.7 up to 14.6, where P is less than any float. With rounding, within
/// 2^-17.
__device__ inline float normal_tail_ratio(float a) {
    const float t = ptx::reciprocal(a + 3.25f);
    float ratio = -0x1.622f96p+6f;
    for (const float coefficient :
         {0x1.12f04ep+6f, 0x1.ae7a26p-1f, 0x1.2b445ep+2f, 0x1.4150f0p+0f, 0x1.9951a6p-2f})
        ratio = fmaf(ratio, t, coefficient);
    return ratio * t;
}

/// The normal distribution function. erfc costs more than twice as much as 16 bits have time for.
template <class T>
__device__ compute_type<T> normal_cdf(compute_type<T> x) {
    if constexpr (sizeof(T) == 2) {
        const float below = normal_tail_ratio(::fabs(x)) * exponential<T>(-0.5f * x * x);
        return x < 0 ? below : 1 - below;
    } else {
        using compute = compute_type<T>;
        return static_cast<compute>(0.5) * ::erfc(x * static_cast<compute>(-0.70710678118654752440));
    }
}

/// gelu_tanh is x * logistic(u(x)).
template <class C>
struct gelu_argument {
    static constexpr C linear = static_cast<C>(1.59576912160573071176);  // 2 sqrt(2 / pi)
    static constexpr C cubic = static_cast<C>(0.044715);

    __device__ static C value(C x) { return linear * x * (1 + cubic * x * x); }
    __device__ static C slope(C x) { return linear * (1 + 3 * cubic * x * x); }
};

struct add {
    static constexpr int inputs = 2;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(widen(x) + widen(y));
    }
};

struct subtract {
    static constexpr int inputs = 2;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(widen(x) - widen(y));
    }
};

struct multiply {
    static constexpr int inputs = 2;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(widen(x) * widen(y));
    }
};

template <class C>
struct scale {
    static constexpr int inputs = 1;
    C alpha;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(alpha * widen(x));
    }
};

template <class C>
struct axpy {
    static constexpr int inputs = 2;
    C alpha;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(::fma(alpha, widen(x), widen(y)));
    }
};

struct fused_multiply_add {
    static constexpr int inputs = 3;
    template <class T>
    __device__ T operator()(T x, T y, T z) const {
        return static_cast<T>(::fma(widen(x), widen(y), widen(z)));
    }
};

template <class C>
struct clamp {
    static constexpr int inputs = 1;
    C low, high;
    template <class T>
    __device__ T operator()(T value) const {
        const C x = widen(value);
        return x < low ? static_cast<T>(low) : x > high ? static_cast<T>(high) : value;
    }
};

struct abs {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(::fabs(widen(x)));
    }
};

struct exp {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(::exp(widen(x)));
    }
};

struct sigmoid {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(logistic<T>(widen(x)));
    }
};

struct tanh {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(::tanh(widen(x)));
    }
};

struct relu {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return widen(x) < 0 ? T(0) : x;
    }
};

struct gelu {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return static_cast<T>(weighted(x, normal_cdf<T>(x)));
    }
};

struct gelu_tanh {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return static_cast<T>(weighted(x, logistic<T>(gelu_argument<compute_type<T>>::value(x))));
    }
};

struct silu {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return static_cast<T>(weighted(x, logistic<T>(x)));
    }
};

struct sigmoid_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(logistic_slope<T>(widen(x)));
    }
};

/// 1 - tanh^2 without its cancellation: 4 times the slope of logistic(2 x).
struct tanh_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(4 * logistic_slope<T>(2 * widen(x)));
    }
};

struct relu_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return x > 0 ? T(1) : x <= 0 ? T(0) : value;
    }
};

struct gelu_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return static_cast<T>(normal_cdf<T>(x) + weighted(x, normal_density<T>(x)));
    }
};

struct gelu_tanh_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        using argument = gelu_argument<compute_type<T>>;
        const auto x = widen(value);
        const auto u = argument::value(x);
        return static_cast<T>(logistic<T>(u) + weighted(x * argument::slope(x), logistic_slope<T>(u)));
    }
};

struct silu_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return static_cast<T>(logistic<T>(x) + weighted(x, logistic_slope<T>(x)));
    }
};

template <class T, class Visitor>
void visit_operation(const arguments& a, Visitor visitor) {
    using compute = compute_type<T>;
    const auto visit = [&](auto functor) { visitor.template operator()<T>(functor); };
    const auto p = static_cast<compute>(a.p);
    const auto q = static_cast<compute>(a.q);
    switch (a.operation) {
        case elementwise_operation::add:
            return visit(add{});
        case elementwise_operation::subtract:
            return visit(subtract{});
        case elementwise_operation::multiply:
            return visit(multiply{});
        case elementwise_operation::scale:
            return visit(scale<compute>{p});
        case elementwise_operation::axpy:
            return visit(axpy<compute>{p});
        case elementwise_operation::fused_multiply_add:
            return visit(fused_multiply_add{});
        case elementwise_operation::clamp:
            return visit(clamp<compute>{p, q});
        case elementwise_operation::abs:
            return visit(abs{});
        case elementwise_operation::exp:
            return visit(exp{});
        case elementwise_operation::sigmoid:
            return visit(sigmoid{});
        case elementwise_operation::tanh:
            return visit(tanh{});
        case elementwise_operation::relu:
            return visit(relu{});
        case elementwise_operation::gelu:
            return visit(gelu{});
        case elementwise_operation::gelu_tanh:
            return visit(gelu_tanh{});
        case elementwise_operation::silu:
            return visit(silu{});
        case elementwise_operation::sigmoid_derivative:
            return visit(sigmoid_derivative{});
        case elementwise_operation::tanh_derivative:
            return visit(tanh_derivative{});
        case elementwise_operation::relu_derivative:
            return visit(relu_derivative{});
        case elementwise_operation::gelu_derivative:
            return visit(gelu_derivative{});
        case elementwise_operation::gelu_tanh_derivative:
            return visit(gelu_tanh_derivative{});
        case elementwise_operation::silu_derivative:
            return visit(silu_derivative{});
    }
}

/// Calls visitor.operator()<T>(functor) for the call's type and operation.
template <class Visitor>
void visit(const arguments& a, Visitor visitor) {
    switch (a.type) {
        case element_type::f32:
            return visit_operation<float>(a, visitor);
        case element_type::f64:
            return visit_operation<double>(a, visitor);
        case element_type::f16:
            return visit_operation<half>(a, visitor);
        case element_type::bf16:
            return visit_operation<bfloat16>(a, visitor);
    }
}

}  // namespace heddle::kernels::elementwise
