#pragma once

#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include <type_traits>
#include <utility>

/// Each type is instantiated in a file of its own: there are many kernels.
namespace heddle::bench {

template <class C>
__device__ C plain_sigmoid(C x) {
    return C(1) / (C(1) + ::exp(-x));
}

/// An operation of one input, in the type that is computed in.
template <elementwise_operation operation, class C>
__device__ C plain_function(C x, C p, C q) {
    using enum elementwise_operation;
    const C root_of_half = C(0.70710678118654752), root_of_2_over_pi = C(0.79788456080286536);
    const C density = C(0.39894228040143268) * ::exp(C(-0.5) * x * x);
    const C u = root_of_2_over_pi * (x + C(0.044715) * x * x * x);
    const C slope_of_u = root_of_2_over_pi * (C(1) + C(3 * 0.044715) * x * x);
    const C s = plain_sigmoid(x), t = ::tanh(x), tanh_u = ::tanh(u);
    if constexpr (operation == scale) return p * x;
    if constexpr (operation == clamp) return x < p ? p : x > q ? q : x;
    if constexpr (operation == abs) return ::fabs(x);
    if constexpr (operation == elementwise_operation::exp) return ::exp(x);
    if constexpr (operation == sigmoid) return s;
    if constexpr (operation == elementwise_operation::tanh) return t;
    if constexpr (operation == relu) return x < C(0) ? C(0) : x;
    if constexpr (operation == gelu) return C(0.5) * x * ::erfc(-x * root_of_half);
    if constexpr (operation == gelu_tanh) return C(0.5) * x * (C(1) + tanh_u);
    if constexpr (operation == silu) return x / (C(1) + ::exp(-x));
    if constexpr (operation == sigmoid_derivative) return s * (C(1) - s);
    if constexpr (operation == tanh_derivative) return C(1) - t * t;
    if constexpr (operation == relu_derivative) return x > C(0) ? C(1) : C(0);
    if constexpr (operation == gelu_derivative) return C(0.5) * ::erfc(-x * root_of_half) + x * density;
    if constexpr (operation == gelu_tanh_derivative)
        return C(0.5) * (C(1) + tanh_u) + C(0.5) * x * (C(1) - tanh_u * tanh_u) * slope_of_u;
    if constexpr (operation == silu_derivative) return s * (C(1) + x * (C(1) - s));
    return x;
}

template <elementwise_operation operation, class T>
struct plain_operation {
    using C = compute_type<T>;
    C p, q;

    __device__ T operator()(T x) const {
        return static_cast<T>(plain_function<operation>(static_cast<C>(x), p, q));
    }
    __device__ T operator()(T left, T right) const {
        const C x = static_cast<C>(left), y = static_cast<C>(right);
        if constexpr (operation == elementwise_operation::add) return static_cast<T>(x + y);
        if constexpr (operation == elementwise_operation::subtract) return static_cast<T>(x - y);
        if constexpr (operation == elementwise_operation::multiply) return static_cast<T>(x * y);
        return static_cast<T>(p * x + y);  // axpy
    }
    __device__ T operator()(T x, T y, T z) const {
        return static_cast<T>(static_cast<C>(x) * static_cast<C>(y) + static_cast<C>(z));
    }
};

constexpr int inputs_of(elementwise_operation operation) {
    using enum elementwise_operation;
    if (operation == fused_multiply_add) return 3;
    return operation == add || operation == subtract || operation == multiply || operation == axpy ? 2 : 1;
}

template <elementwise_operation operation, class T>
void launch_cub(const T* const (&x)[3], T* z, std::int64_t size, double p, double q) {
    const plain_operation<operation, T> function{static_cast<compute_type<T>>(p),
                                                 static_cast<compute_type<T>>(q)};
    constexpr int inputs = inputs_of(operation);
    if constexpr (inputs == 1)
        check(cub::DeviceTransform::Transform(x[0], z, size, function, stream().get()));
    else if constexpr (inputs == 2)
        check(cub::DeviceTransform::Transform(cuda::std::make_tuple(x[0], x[1]), z, size, function,
                                              stream().get()));
    else
        check(cub::DeviceTransform::Transform(cuda::std::make_tuple(x[0], x[1], x[2]), z, size, function,
                                              stream().get()));
}

template <class T>
void cub_elementwise(elementwise_operation operation, const T* const (&x)[3], T* z, std::int64_t size,
                     double p, double q) {
    constexpr auto operations = static_cast<std::size_t>(elementwise_operation::silu_derivative) + 1;
    [&]<std::size_t... number>(std::index_sequence<number...>) {
        ((static_cast<std::size_t>(operation) == number
              ? launch_cub<static_cast<elementwise_operation>(number)>(x, z, size, p, q)
              : void()),
         ...);
    }
    (std::make_index_sequence<operations>{});
}

}  // namespace heddle::bench
