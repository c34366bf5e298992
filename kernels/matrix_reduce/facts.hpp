#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/matrix_reduce.hpp>
#include <heddle/view.hpp>

#include <cstdint>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::matrix_reduce {

/// Replaces strides that nothing uses with those of a dense matrix. `shape` is a view or a layout.
template <class Shape>
constexpr Shape normalised(Shape shape) {
    if (shape.cols <= 1) shape.col_stride = 1;
    if (shape.rows <= 1) shape.row_stride = shape.col_stride == 1 ? shape.cols : 1;
    return shape;
}

/// Whether memory neighbours in x, a view or a layout, lie in different rows and not in one (or x has one column).
template <class Shape>
constexpr bool is_across_rows(const Shape& x) {
    return x.row_stride == 1 && (x.col_stride != 1 || x.cols <= 1);
}

/// Whether each row begins at a packet boundary; each column, where neighbours lie across rows.
constexpr bool has_aligned_lines(const matrix_layout& x) {
    const bool is_across = is_across_rows(x);
    return x.offset % packet_bytes == 0 &&
           ((is_across ? x.cols : x.rows) <= 1 ||
            are_packets(is_across ? x.col_stride : x.row_stride, x.element_bytes));
}

/// The matrix whose rows are reduced, normalised().
struct matrix_facts : matrix_layout {
    explicit matrix_facts(const matrix_reduce_problem& p)
        : matrix_layout(normalised(p.x)), is_aligned(has_aligned_lines(*this)), has_scratch(p.has_scratch) {}

    bool is_aligned;  ///< has_aligned_lines()
    bool has_scratch;
};

}  // namespace heddle::kernels::matrix_reduce
