#pragma once

#include "kernels/device/activation.cuh"
#include "kernels/elementwise/launch.hpp"
#include <heddle/types.hpp>

namespace heddle::kernels::elementwise {

template <class T>
__device__ compute_type<T> widen(T x) {
    return static_cast<compute_type<T>>(x);
}

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
        return static_cast<T>(tanh_of<T>(widen(x)));
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
    __device__ T operator()(T x) const {
        return static_cast<T>(gelu_of<T>(widen(x)));
    }
};

struct gelu_tanh {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(gelu_tanh_of<T>(widen(x)));
    }
};

struct silu {
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(silu_of<T>(widen(x)));
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
