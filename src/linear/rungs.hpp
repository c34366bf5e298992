#pragma once

#include "kernels/matmul/plan/plan.hpp"
#include "src/matmul/rungs.hpp"
#include "src/rungs.hpp"
#include <heddle/linear.hpp>
#include <heddle/matmul.hpp>
#include <heddle/view.hpp>

namespace heddle::detail {

/// dx = (gradient weights) * f'(x), f' the derivative of an activation of which x is the result; none has no derivative. dx
/// has at least one element, and is apart from all others.
template <class T>
struct derivative_arguments {
    matrix_view<const T> gradient;
    matrix_view<const T> weights;
    matrix_view<const T> x;
    matrix_view<T> dx;
    matmul_activation activation;
    matmul_options options;  ///< of the product
};

/// That of the product, where its kernel has the derivative; else the product is a call of its own.
struct linear_gradient_plan {
    kernels::matmul::plan product{};
};

template <class T>
using linear_gradient_rung =
    rung<linear_gradient_algorithm, linear_gradient_problem, linear_gradient_plan, derivative_arguments<T>>;

inline void add_facts(facts& to, const linear_gradient_problem& p) {
    add_facts(to, p.product);
    to.add({fact("has_derivative", p.has_derivative)});
}

template <class T>
rung_table<linear_gradient_rung<T>> linear_gradient_rungs();

}  // namespace heddle::detail
