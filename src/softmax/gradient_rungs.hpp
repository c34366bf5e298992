#pragma once

#include "kernels/softmax/launch.hpp"
#include "src/rows.hpp"
#include "src/rungs.hpp"
#include <heddle/softmax.hpp>

namespace heddle::detail {

template <class T>
using softmax_gradient_rung = rung<softmax_gradient_algorithm, kernels::softmax::gradient_facts,
                                   kernels::softmax::gradient_plan, kernels::softmax::gradient_arguments<T>>;

/// The rungs of the gradient of softmax or of its logarithm.
template <bool logarithm, class T>
rung_table<softmax_gradient_rung<T>> softmax_gradient_rungs();

}  // namespace heddle::detail
