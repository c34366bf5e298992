#pragma once

#include "kernels/optimizer/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/optimizer.hpp>

namespace heddle::detail {

template <class Rule, class T, class Gradient>
using optimizer_rung = rung<optimizer_algorithm, optimizer_problem, kernels::optimizer::plan,
                            kernels::optimizer::arguments<Rule, T, Gradient>>;

template <class Rule, class T, class Gradient>
rung_table<optimizer_rung<Rule, T, Gradient>> optimizer_rungs();

/// Checks the arguments of functions that take a problem and a device.
void validate_optimizer_problem(const char* operation, const optimizer_problem& problem,
                                const device_traits& device);

}  // namespace heddle::detail
