#pragma once

#include "kernels/matmul/plan/plan.hpp"
#include "src/matmul/rungs.hpp"
#include "src/rungs.hpp"
#include <heddle/linear.hpp>
#include <heddle/matmul.hpp>
#include <heddle/view.hpp>

namespace heddle::detail {

/// dx = (gradient weights) * f'(x), where f' is the derivative of an activation with the result x. For `none` f' is 1.
/// dx has at least one element, and overlaps no other operand.
template <class T>
struct derivative_arguments {
    matrix_view<const T> gradient;
    matrix_view<const T> weights;
    matrix_view<const T> x;
    matrix_view<T> dx;
    matmul_activation activation;
    matmul_options options;  ///< options of the product
};

/// The product's plan if its kernel applies the derivative. Otherwise the product is a separate call.
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
