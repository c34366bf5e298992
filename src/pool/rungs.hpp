#pragma once

#include "kernels/pool/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/pool.hpp>

namespace heddle::detail {

template <class T>
using pool_rung = rung<pool_algorithm, pool_problem, kernels::pool::plan, kernels::pool::arguments<T>>;

template <class T>
rung_table<pool_rung<T>> pool_rungs();

}  // namespace heddle::detail
