#pragma once

#include "tests/bounds/norm.hpp"
#include "tests/support/numeric.hpp"
#include <heddle/device.hpp>
#include <heddle/norm.hpp>
#include <heddle/view.hpp>

namespace heddle::test {

using bounds::expected_norm;
using bounds::norm_depth;
using bounds::norm_depth_on_host;
using bounds::norm_operation;
using bounds::row_moments;

/// Whether a rung runs a call on the current device; gamma and beta may be empty. No rung refuses an alignment; all take an
/// empty matrix.
template <class T>
bool takes(norm_algorithm algorithm, const matrix_view<T>& x, const vector_view<T>& gamma,
           const vector_view<T>& beta, const matrix_view<T>& y) {
    const auto is_side_by_side = [](const vector_view<T>& v) { return v.size == 0 || v.stride == 1; };
    const norm_problem problem{
        .rows = y.rows,
        .cols = y.cols,
        .unit_stride = y.cols == 1 || (x.col_stride == 1 && y.col_stride == 1 && is_side_by_side(gamma) &&
                                       is_side_by_side(beta)),
        .element_bytes = sizeof(T)};
    const bool is_empty = y.rows == 0 || y.cols == 0;
    return is_empty || why_not(algorithm, problem, traits_of(current_device())).empty();
}

}  // namespace heddle::test
