#pragma once

#include "kernels/scan/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/scan.hpp>

namespace heddle::detail {

template <class T>
using scan_rung = rung<scan_algorithm, scan_problem, kernels::scan::plan, kernels::scan::arguments<T>>;

/// The rungs of both scans.
template <class T>
rung_table<scan_rung<T>> scan_rungs();

}  // namespace heddle::detail
