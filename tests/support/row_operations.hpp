#pragma once

#include "tests/bounds/norm.hpp"
#include "tests/bounds/softmax.hpp"
#include "tests/support/numeric.hpp"
#include <heddle/device.hpp>
#include <heddle/norm.hpp>
#include <heddle/softmax.hpp>
#include <heddle/view.hpp>

namespace heddle::test {

using bounds::expected_norm;
using bounds::expected_softmax;
using bounds::norm_depth;
using bounds::norm_depth_on_host;
using bounds::norm_operation;
using bounds::row_moments;
using bounds::softmax_steps_of;
using bounds::softmax_steps_on_host;

/// Whether a rung runs a call on the current device; gamma and beta may be empty. All rungs take an empty matrix.
template <class T>
bool takes(softmax_algorithm algorithm, const matrix_view<T>& x, const matrix_view<T>& y) {
    const bool is_empty = y.rows == 0 || y.cols == 0;
    return is_empty || why_not(algorithm, softmax_problem_of<T>(x, y), traits_of(current_device())).empty();
}
template <class T>
bool takes(norm_algorithm algorithm, const matrix_view<T>& x, const vector_view<T>& gamma,
           const vector_view<T>& beta, const matrix_view<T>& y) {
    const bool is_empty = y.rows == 0 || y.cols == 0;
    return is_empty ||
           why_not(algorithm, norm_problem_of<T>(x, gamma, beta, y), traits_of(current_device())).empty();
}

}  // namespace heddle::test
