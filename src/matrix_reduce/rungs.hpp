#pragma once

#include "kernels/matrix_reduce/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/matrix_reduce.hpp>

namespace heddle::detail {

template <class Operation, class T>
using matrix_reduce_rung =
    rung<matrix_reduce_algorithm, kernels::matrix_reduce::matrix_facts, kernels::matrix_reduce::plan,
         kernels::matrix_reduce::arguments<Operation, T>>;

inline void add_facts(facts& to, const kernels::matrix_reduce::matrix_facts& p) {
    to.add({fact("rows", p.rows), fact("cols", p.cols), fact("row_stride", p.row_stride),
            fact("col_stride", p.col_stride), fact("element_bytes", p.element_bytes),
            fact("is_aligned", p.is_aligned, true), fact("has_scratch", p.has_scratch, true)});
}

/// The rungs of an operation.
template <class Operation, class T>
rung_table<matrix_reduce_rung<Operation, T>> matrix_reduce_rungs();

}  // namespace heddle::detail
