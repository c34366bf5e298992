#pragma once

#include "kernels/random/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/random.hpp>

namespace heddle::detail {

using random_rung = rung<random_algorithm, random_problem, kernels::random::plan, kernels::random::arguments>;

/// The rungs of all that is drawn element by element.
rung_table<random_rung> random_rungs();

}  // namespace heddle::detail
