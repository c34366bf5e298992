#pragma once

#include "kernels/linear/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/linear.hpp>

namespace heddle::detail {

template <class T>
using linear_gradient_rung = rung<linear_gradient_algorithm, linear_gradient_problem, kernels::linear::plan,
                                  kernels::linear::derivative_arguments<T>>;

template <class T>
rung_table<linear_gradient_rung<T>> linear_gradient_rungs();

}  // namespace heddle::detail
