#pragma once

#include "kernels/device/layout.hpp"
#include "kernels/device/math.hpp"
#include <heddle/transpose.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::transpose {

struct transpose_facts {
    std::int64_t rows = 0;  ///< rows of the source of the canonical() call
    std::int64_t cols = 0;
    std::int64_t element_bytes = 4;
    /// Source and destination each have a dimension along which elements lie side by side.
    bool unit_stride = true;
    /// Both have the same lines of such elements, so the call is a copy of rows. An example is a row-major source with a
    /// column-major destination, or a vector.
    bool is_copy = false;
    /// The largest power of two, up to 16, that divides the address of each such line in both.
    int alignment = 16;
};

/// Whether the elements of a row lie side by side. The stride of a single column does not matter.
constexpr bool has_unit_rows(const auto& matrix) {
    return matrix.cols == 1 || matrix.col_stride == 1;
}

/// The same call, of views or of layouts, with both transposed.
template <class Call>
constexpr Call turned(const Call& call) {
    return {transposed(call.source), transposed(call.destination)};
}

constexpr bool is_copy_of_rows(const auto& call) {
    return has_unit_rows(call.source) && has_unit_rows(transposed(call.destination));
}

/// Makes one row of rows that have no gaps between them.
template <class Call>
constexpr Call flattened(Call call) {
    auto& [from, to] = call;
    if (from.rows > 1 && (from.row_stride != from.cols || to.col_stride != from.cols)) return call;
    from.cols = from.row_stride = to.rows = from.rows * from.cols;
    from.rows = to.cols = 1;
    from.col_stride = to.row_stride = to.col_stride = 1;
    return call;
}

/// The call as launch.hpp describes it: a copy's rows have unit stride, and so have other sources' rows where
/// that is possible.
template <class Call>
constexpr Call canonical(const Call& call) {
    if (is_copy_of_rows(call)) return flattened(call);
    if (is_copy_of_rows(turned(call))) return flattened(turned(call));
    return is_row_major(call.source) ? call : turned(call);
}

/// The largest power of two, up to a packet, that divides the address of every row.
constexpr int row_alignment(const matrix_layout& m) {
    const std::int64_t step = m.rows > 1 ? m.row_stride % packet_bytes * m.element_bytes : 0;
    return common_alignment(m.offset, step);
}

constexpr transpose_facts facts_of(const transpose_problem& given) {
    const transpose_problem p = canonical(given);
    const bool is_copy = is_copy_of_rows(p);
    return {.rows = p.source.rows,
            .cols = p.source.cols,
            .element_bytes = p.source.element_bytes,
            .unit_stride = is_copy || (has_unit_rows(p.source) && has_unit_rows(p.destination)),
            .is_copy = is_copy,
            .alignment = std::min(row_alignment(p.source),
                                  row_alignment(is_copy ? transposed(p.destination) : p.destination))};
}

}  // namespace heddle::kernels::transpose
