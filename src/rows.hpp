#pragma once

#include <heddle/view.hpp>

namespace heddle::detail {

/// Whether neighbours in memory are elements of one column, as in a column-major matrix.
template <class T>
bool is_in_columns(const matrix_view<T>& m) {
    return m.rows > 1 && m.row_stride < m.col_stride;
}

}  // namespace heddle::detail
