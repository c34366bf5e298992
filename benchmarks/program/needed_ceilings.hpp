#pragma once

#include "benchmarks/program/selection.hpp"

namespace heddle::bench {

/// The registered ceilings that the limits of these rows depend on, and the times of their transfers: of those that are
/// measured at several footprints the nearest below and above.
rows needed_ceilings(const rows& all);

}  // namespace heddle::bench
