#pragma once

#include "src/facts.hpp"
#include <heddle/view.hpp>

namespace heddle::detail {

/// Whether neighbours in memory are elements of one column, as in a column-major matrix.
template <class T>
bool is_in_columns(const matrix_view<T>& m) {
    return m.rows > 1 && m.row_stride < m.col_stride;
}

/// Problems of whole rows.
template <class Problem>
requires requires(const Problem& p) {
    p.unit_stride;
    p.in_packets;
}
void add_facts(facts& to, const Problem& p) {
    to.add({fact("rows", p.rows), fact("cols", p.cols), fact("unit_stride", p.unit_stride, true),
            fact("element_bytes", p.element_bytes), fact("in_packets", p.in_packets, true)});
    if constexpr (requires { p.x_in_columns; })
        to.add({fact("x_in_columns", p.x_in_columns, false), fact("y_in_columns", p.y_in_columns, false)});
    if constexpr (requires { p.has_column_sums; })
        to.add({fact("has_column_sums", p.has_column_sums, true), fact("has_scratch", p.has_scratch, true)});
}

}  // namespace heddle::detail
