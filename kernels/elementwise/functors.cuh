#pragma once

#include "kernels/device/ptx/exponential2.cuh"
#include "kernels/device/ptx/reciprocal.cuh"
#include "kernels/elementwise/exponential.cuh"
#include "kernels/elementwise/launch.hpp"
#include "kernels/elementwise/normal.cuh"
#include <heddle/types.hpp>

namespace heddle::kernels::elementwise {

template <class T>
__device__ compute_type<T> widen(T x) {
    return static_cast<compute_type<T>>(x);
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
///
/// For 16 bits the hardware's reciprocal of 2^-16 + 2^-16 exp(-x) is far inside half a unit, and large enough to be
/// a normal number wherever x times the result rounds to more than 0.
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

/// Both of the above, with one division.
template <class T>
__device__ value_and_slope<compute_type<T>> logistic_with_slope(compute_type<T> x) {
    using compute = compute_type<T>;
    const compute e = exponential<T>(-::fabs(x));
    const compute larger = quotient<T>(1, 1 + e);
    const compute smaller = e * larger;
    return {x < 0 ? smaller : larger, smaller * larger};
}

/// tanh as exactly as 16 bits need it, within 2^-16: 1 - 2 / (1 + exp(2 x)), but near 0, where that cancels, the
/// first terms of its series.
__device__ inline float hyperbolic_tangent(float x) {
    constexpr float series_end = 0x1p-4f;
    if (::fabs(x) < series_end) return fmaf(x * x * (-1.0f / 3), x, x);
    return fmaf(-2, ptx::reciprocal(1 + ptx::exponential2(2 * log2_e * x)), 1);
}

/// x * weight, where a weight of 0 wins over an infinite x.
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
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        if constexpr (sizeof(T) == 2)
            return static_cast<T>(hyperbolic_tangent(x));
        else
            return static_cast<T>(::tanh(x));
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
        if constexpr (sizeof(T) == 8)
            return weighted(x, normal_cdf(x));
        else
            return static_cast<T>(normal_tail_at<T>(x).x_times_cdf(x));
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
        if constexpr (sizeof(T) == 8) {
            return normal_cdf(x) + weighted(x, normal_density(x));
        } else {
            const float slope = normal_tail_at<T>(x).slope();
            return static_cast<T>(x < 0 ? slope : 1 - slope);
        }
    }
};

struct gelu_tanh_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        using argument = gelu_argument<compute_type<T>>;
        const auto x = widen(value);
        const auto [value_at_u, slope_at_u] = logistic_with_slope<T>(argument::value(x));
        return static_cast<T>(value_at_u + weighted(x * argument::slope(x), slope_at_u));
    }
};

struct silu_derivative {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        const auto [s, slope] = logistic_with_slope<T>(x);
        return static_cast<T>(s + weighted(x, slope));
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
