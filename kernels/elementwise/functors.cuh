#pragma once

#include "kernels/device/activation.cuh"
#include <heddle/elementwise.hpp>
#include <heddle/types.hpp>

namespace heddle::kernels::elementwise {

template <class T>
__device__ compute_type<T> widen(T x) {
    return static_cast<compute_type<T>>(x);
}

struct add {
    static constexpr auto operation = elementwise_operation::add;
    static constexpr int inputs = 2;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(widen(x) + widen(y));
    }
};

struct subtract {
    static constexpr auto operation = elementwise_operation::subtract;
    static constexpr int inputs = 2;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(widen(x) - widen(y));
    }
};

struct multiply {
    static constexpr auto operation = elementwise_operation::multiply;
    static constexpr int inputs = 2;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(widen(x) * widen(y));
    }
};

template <class C>
struct scale {
    static constexpr auto operation = elementwise_operation::scale;
    static constexpr int inputs = 1;
    C alpha;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(alpha * widen(x));
    }
};

template <class C>
struct axpy {
    static constexpr auto operation = elementwise_operation::axpy;
    static constexpr int inputs = 2;
    C alpha;
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(::fma(alpha, widen(x), widen(y)));
    }
};

struct fused_multiply_add {
    static constexpr auto operation = elementwise_operation::fused_multiply_add;
    static constexpr int inputs = 3;
    template <class T>
    __device__ T operator()(T x, T y, T z) const {
        return static_cast<T>(::fma(widen(x), widen(y), widen(z)));
    }
};

template <class C>
struct clamp {
    static constexpr auto operation = elementwise_operation::clamp;
    static constexpr int inputs = 1;
    C low, high;
    template <class T>
    __device__ T operator()(T value) const {
        const C x = widen(value);
        return x < low ? static_cast<T>(low) : x > high ? static_cast<T>(high) : value;
    }
};

struct abs {
    static constexpr auto operation = elementwise_operation::abs;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(::fabs(widen(x)));
    }
};

struct exp {
    static constexpr auto operation = elementwise_operation::exp;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(::exp(widen(x)));
    }
};

struct sigmoid {
    static constexpr auto operation = elementwise_operation::sigmoid;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(logistic<T>(widen(x)));
    }
};

struct tanh {
    static constexpr auto operation = elementwise_operation::tanh;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(tanh_of<T>(widen(x)));
    }
};

struct relu {
    static constexpr auto operation = elementwise_operation::relu;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return widen(x) < 0 ? T(0) : x;
    }
};

struct gelu {
    static constexpr auto operation = elementwise_operation::gelu;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(gelu_of<T>(widen(x)));
    }
};

struct gelu_tanh {
    static constexpr auto operation = elementwise_operation::gelu_tanh;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(gelu_tanh_of<T>(widen(x)));
    }
};

struct silu {
    static constexpr auto operation = elementwise_operation::silu;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(silu_of<T>(widen(x)));
    }
};

struct sigmoid_derivative {
    static constexpr auto operation = elementwise_operation::sigmoid_derivative;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(logistic_slope<T>(widen(x)));
    }
};

/// 1 - tanh^2 without its cancellation: 4 times the slope of logistic(2 x).
struct tanh_derivative {
    static constexpr auto operation = elementwise_operation::tanh_derivative;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(4 * logistic_slope<T>(2 * widen(x)));
    }
};

struct relu_derivative {
    static constexpr auto operation = elementwise_operation::relu_derivative;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        return x > 0 ? T(1) : x <= 0 ? T(0) : value;
    }
};

struct gelu_derivative {
    static constexpr auto operation = elementwise_operation::gelu_derivative;
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
    static constexpr auto operation = elementwise_operation::gelu_tanh_derivative;
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
    static constexpr auto operation = elementwise_operation::silu_derivative;
    static constexpr int inputs = 1;
    template <class T>
    __device__ T operator()(T value) const {
        const auto x = widen(value);
        const auto [s, slope] = logistic_with_slope<T>(x);
        return static_cast<T>(s + weighted(x, slope));
    }
};

}  // namespace heddle::kernels::elementwise
