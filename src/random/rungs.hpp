#pragma once

#include "kernels/random/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/random.hpp>

namespace heddle::detail {

using random_rung =
    rung<random_algorithm, kernels::random::random_facts, kernels::random::plan, kernels::random::arguments>;

inline void add_facts(facts& to, const kernels::random::random_facts& p) {
    to.add({fact("rows", p.rows), fact("cols", p.cols), fact("element_bytes", p.element_bytes),
            fact("block_elements", p.block_elements, 4), fact("unit_stride", p.unit_stride, true),
            fact("is_crossed", p.is_crossed, false)});
}

/// The rungs of all operations that draw element by element.
rung_table<random_rung> random_rungs();

}  // namespace heddle::detail
