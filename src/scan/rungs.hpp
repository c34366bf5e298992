#pragma once

#include "kernels/scan/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/scan.hpp>

namespace heddle::detail {

template <class T>
using scan_rung =
    rung<scan_algorithm, kernels::scan::scan_facts, kernels::scan::plan, kernels::scan::arguments<T>>;

inline void add_facts(facts& to, const kernels::scan::scan_facts& p) {
    to.add({fact("size", p.size), fact("element_bytes", p.element_bytes),
            fact("unit_stride", p.unit_stride, true), fact("misalignment", p.misalignment, 0),
            fact("x_is_alike", p.x_is_alike, true), fact("has_scratch", p.has_scratch, true)});
}

/// The rungs of both scans.
template <class T>
rung_table<scan_rung<T>> scan_rungs();

}  // namespace heddle::detail
