#pragma once

#include "kernels/linear/launch.hpp"
#include "src/matmul/rungs.hpp"
#include "src/rungs.hpp"
#include <heddle/linear.hpp>

namespace heddle::detail {

template <class T>
using linear_gradient_rung = rung<linear_gradient_algorithm, linear_gradient_problem, kernels::linear::plan,
                                  kernels::linear::derivative_arguments<T>>;

inline void add_facts(facts& to, const linear_gradient_problem& p) {
    add_facts(to, p.product);
    to.add({fact("has_derivative", p.has_derivative)});
}

template <class T>
rung_table<linear_gradient_rung<T>> linear_gradient_rungs();

}  // namespace heddle::detail
