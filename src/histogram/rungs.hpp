#pragma once

#include "kernels/histogram/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/histogram.hpp>

namespace heddle::detail {

template <class T>
using histogram_rung =
    rung<histogram_algorithm, histogram_problem, kernels::histogram::plan, kernels::histogram::arguments<T>>;

template <class T>
rung_table<histogram_rung<T>> histogram_rungs();

}  // namespace heddle::detail
