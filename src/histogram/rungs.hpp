#pragma once

#include "kernels/histogram/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/histogram.hpp>

namespace heddle::detail {

template <class T>
using histogram_rung = rung<histogram_algorithm, kernels::histogram::histogram_facts,
                            kernels::histogram::plan, kernels::histogram::arguments<T>>;

inline void add_facts(facts& to, const kernels::histogram::histogram_facts& p) {
    to.add({fact("size", p.size), fact("stride", p.stride), fact("bins", p.bins),
            fact("element_bytes", p.element_bytes), fact("head", p.head, 0)});
}

template <class T>
rung_table<histogram_rung<T>> histogram_rungs();

}  // namespace heddle::detail
