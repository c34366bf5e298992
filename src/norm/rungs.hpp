#pragma once

#include "kernels/norm/launch.hpp"
#include "src/rows.hpp"
#include "src/rungs.hpp"
#include <heddle/norm.hpp>

namespace heddle::detail {

template <class T>
using norm_rung =
    rung<norm_algorithm, kernels::norm::norm_facts, kernels::norm::plan, kernels::norm::arguments<T>>;

/// The rungs of layer_norm (`centred`) or of rms_norm.
template <bool centred, class T>
rung_table<norm_rung<T>> norm_rungs();

}  // namespace heddle::detail
