#pragma once

#include "kernels/loss/launch.hpp"
#include "src/rows.hpp"
#include "src/rungs.hpp"
#include <heddle/loss.hpp>

namespace heddle::detail {

template <class Arguments>
using loss_rung = rung<loss_algorithm, kernels::loss::loss_facts, kernels::loss::plan, Arguments>;

/// The rungs for kernels::loss::cross_entropy_arguments<T> or mean_squared_error_arguments<T>.
template <class Arguments>
rung_table<loss_rung<Arguments>> loss_rungs();

}  // namespace heddle::detail
