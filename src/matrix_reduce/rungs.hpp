#pragma once

#include "kernels/matrix_reduce/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/matrix_reduce.hpp>

namespace heddle::detail {

template <class Operation, class T>
using matrix_reduce_rung = rung<matrix_reduce_algorithm, matrix_reduce_problem, kernels::matrix_reduce::plan,
                                kernels::matrix_reduce::arguments<Operation, T>>;

/// The rungs of an operation. Problems of these have the strides of normalised().
template <class Operation, class T>
rung_table<matrix_reduce_rung<Operation, T>> matrix_reduce_rungs();

/// Strides that nothing uses become those of a dense matrix. `shape` is a view or a problem.
template <class Shape>
Shape normalised(Shape shape) {
    if (shape.cols <= 1) shape.col_stride = 1;
    if (shape.rows <= 1) shape.row_stride = shape.col_stride == 1 ? shape.cols : 1;
    return shape;
}

}  // namespace heddle::detail
