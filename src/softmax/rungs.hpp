#pragma once

#include "kernels/softmax/launch.hpp"
#include "src/rows.hpp"
#include "src/rungs.hpp"
#include <heddle/softmax.hpp>

namespace heddle::detail {

template <class T>
using softmax_rung = rung<softmax_algorithm, kernels::softmax::softmax_facts, kernels::softmax::plan,
                          kernels::softmax::arguments<T>>;

/// The rungs of softmax or its logarithm.
template <bool logarithm, class T>
rung_table<softmax_rung<T>> softmax_rungs();

}  // namespace heddle::detail
