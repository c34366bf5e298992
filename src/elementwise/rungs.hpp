#pragma once

#include "kernels/elementwise/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/elementwise.hpp>

namespace heddle::detail {

using elementwise_rung = rung<elementwise_algorithm, elementwise_facts, kernels::elementwise::plan,
                              kernels::elementwise::arguments>;

/// The rungs of every operation.
rung_table<elementwise_rung> elementwise_rungs();

}  // namespace heddle::detail
