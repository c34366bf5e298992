#pragma once

#include "kernels/norm/launch.hpp"
#include "src/rows.hpp"
#include "src/rungs.hpp"
#include <heddle/norm.hpp>

namespace heddle::detail {

template <class T>
using norm_gradient_rung = rung<norm_gradient_algorithm, kernels::norm::gradient_facts,
                                kernels::norm::gradient_plan, kernels::norm::gradient_arguments<T>>;

/// The rungs of the gradient of layer_norm (`centred`) or of rms_norm.
template <bool centred, class T>
rung_table<norm_gradient_rung<T>> norm_gradient_rungs();

}  // namespace heddle::detail
