#pragma once

#include "kernels/transpose/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/transpose.hpp>

namespace heddle::detail {

template <class Word>
using transpose_rung = rung<transpose_algorithm, kernels::transpose::transpose_facts,
                            kernels::transpose::plan, kernels::transpose::arguments<Word>>;

inline void add_facts(facts& to, const kernels::transpose::transpose_facts& p) {
    to.add({fact("rows", p.rows), fact("cols", p.cols), fact("element_bytes", p.element_bytes),
            fact("unit_stride", p.unit_stride, true), fact("is_copy", p.is_copy, false),
            fact("alignment", p.alignment, 16)});
}

template <class Word>
rung_table<transpose_rung<Word>> transpose_rungs();

}  // namespace heddle::detail
