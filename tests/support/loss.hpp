#pragma once

#include "tests/bounds/loss.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/softmax.hpp"
#include <heddle/device.hpp>
#include <heddle/loss.hpp>
#include <heddle/view.hpp>

namespace heddle::test {

using bounds::expected_cross_entropy;
using bounds::expected_loss;
using bounds::expected_squared_error;
using bounds::loss_steps_of;

/// Whether a rung runs a call on the current device. No rung refuses an alignment; all take an empty matrix.
template <class T>
bool takes(loss_algorithm algorithm, const matrix_view<T>& x, const matrix_view<T>& gradient) {
    const loss_problem problem{
        .rows = x.rows,
        .cols = x.cols,
        .unit_stride = x.cols == 1 || (x.col_stride == 1 && (gradient.cols == 0 || gradient.col_stride == 1)),
        .element_bytes = sizeof(T)};
    const bool is_empty = x.rows == 0 || x.cols == 0;
    return is_empty || why_not(algorithm, problem, traits_of(current_device())).empty();
}

}  // namespace heddle::test
