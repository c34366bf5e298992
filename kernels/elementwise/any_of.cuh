#pragma once

#include "kernels/elementwise/functors.cuh"
#include "kernels/elementwise/launch.hpp"
#include <heddle/types.hpp>

namespace heddle::kernels::elementwise {

/// One kernel has all of these functions: they have the same number of inputs and need about as many registers.
template <class T, class First, class... Others>
struct any_of {
    static constexpr int inputs = First::inputs;
    static_assert(((Others::inputs == inputs) && ...));
    int place;             ///< index of the called function in the list
    compute_type<T> p, q;  ///< scalars of the called function, in order
};

/// The index of an operation in the list of functions; the length of the list where it is missing.
template <class... Functions>
constexpr int place_among(elementwise_operation operation) {
    int place = 0;
    (void)((operation == Functions::operation || (++place, false)) || ...);
    return place;
}

template <class Function, class C>
__host__ __device__ Function with_scalars(C p, C q) {
    if constexpr (requires { Function{p, q}; })
        return {p, q};
    else if constexpr (requires { Function{p}; })
        return {p};
    else
        return {};
}

/// Calls compute() with the called function.
template <class T, class... Functions, class Compute>
__device__ void with_function(const any_of<T, Functions...>& any, Compute compute) {
    int place = 0;
    const bool is_found =
        ((any.place == place++ && (compute(with_scalars<Functions>(any.p, any.q)), true)) || ...);
    if (!is_found) __builtin_unreachable();
}

/// The same on the host, for kernels that have one function each.
template <class T, class... Functions, class Compute>
void with_function_alone(const any_of<T, Functions...>& any, Compute compute) {
    int place = 0;
    (void)((any.place == place++ && (compute(with_scalars<Functions>(any.p, any.q)), true)) || ...);
}

template <class... All>
struct list {};

template <class T, class... More>
using exponentials = any_of<T, exp, sigmoid, tanh, gelu, gelu_tanh, silu, sigmoid_derivative, tanh_derivative,
                            gelu_tanh_derivative, silu_derivative, More...>;

/// In double, the derivative of gelu needs twice the registers of any other function.
template <class T>
struct last_kernels {
    using type = list<exponentials<T, gelu_derivative>>;
};
template <>
struct last_kernels<double> {
    using type = list<exponentials<double>, any_of<double, gelu_derivative>>;
};

template <class T, class Visitor>
void visit_kernels(const arguments& a, Visitor visitor) {
    using compute = compute_type<T>;
    const auto visits_one = [&]<class... Functions>(any_of<T, Functions...>) {
        const int place = place_among<Functions...>(a.operation);
        if (place == sizeof...(Functions)) return false;
        visitor.template operator()<T>(
            any_of<T, Functions...>{place, static_cast<compute>(a.p), static_cast<compute>(a.q)});
        return true;
    };
    const auto visits = [&]<class... Any>(list<Any...>) { return (visits_one(Any()) || ...); };
    visits(list<any_of<T, add, subtract, multiply, axpy<compute>>, any_of<T, fused_multiply_add>,
                any_of<T, scale<compute>, clamp<compute>, abs, relu, relu_derivative>>()) ||
        visits(typename last_kernels<T>::type());
}

/// Calls visitor.operator()<T>(any), where `any` lists the call's operation.
template <class Visitor>
void visit(const arguments& a, Visitor visitor) {
    switch (a.type) {
        case element_type::f32:
            return visit_kernels<float>(a, visitor);
        case element_type::f64:
            return visit_kernels<double>(a, visitor);
        case element_type::f16:
            return visit_kernels<half>(a, visitor);
        case element_type::bf16:
            return visit_kernels<bfloat16>(a, visitor);
    }
}

}  // namespace heddle::kernels::elementwise
