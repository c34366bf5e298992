#pragma once

#include "kernels/reduce/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/reduce.hpp>

namespace heddle::detail {

template <class Operation, class T>
using reduce_rung = rung<reduce_algorithm, kernels::reduce::reduce_facts, kernels::reduce::plan,
                         kernels::reduce::arguments<Operation, T>>;

inline void add_facts(facts& to, const kernels::reduce::reduce_facts& p) {
    to.add({fact("size", p.size), fact("stride", p.stride), fact("element_bytes", p.element_bytes),
            fact("y_is_alike", p.y_is_alike, true), fact("has_scratch", p.has_scratch, true)});
}

/// The rungs that an operation has.
template <class Operation, class T>
rung_table<reduce_rung<Operation, T>> reduce_rungs();

/// @throws invalid_argument  the algorithm is not an enumerator
/// @throws unsupported       the operation does not have the rung
void require_rung(reduce_operation operation, reduce_algorithm algorithm);

}  // namespace heddle::detail
