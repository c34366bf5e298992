#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/random.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::random {

/// Makes one row of a column, and of a matrix without gaps: only the order of the elements counts. matrix_of() makes a view
/// or a layout of each of `all`.
template <class All, class MatrixOf = std::identity>
constexpr void lay_in_rows(All& all, MatrixOf matrix_of = {}) {
    const auto lay = [](auto& m, std::int64_t cols, std::int64_t col_stride) {
        m.rows = m.row_stride = 1;
        m.cols = cols;
        m.col_stride = col_stride;
    };
    bool have_gaps = false;
    for (auto& each : all) {
        auto& m = std::invoke(matrix_of, each);
        if (m.cols == 1) lay(m, m.rows, m.row_stride);
        have_gaps = have_gaps || (m.rows > 1 && m.row_stride != m.cols * m.col_stride);
    }
    if (have_gaps) return;
    for (auto& each : all) {
        auto& m = std::invoke(matrix_of, each);
        lay(m, m.rows * m.cols, m.cols > 1 ? m.col_stride : 1);
    }
}

struct random_facts {
    explicit constexpr random_facts(const random_problem& p)
        : element_bytes(p.y.element_bytes), block_elements(p.draws_reals && element_bytes == 8 ? 2 : 4) {
        std::array operands{p.x.rows == 0 && p.x.cols == 0 ? p.y : p.x, p.y};
        lay_in_rows(operands);
        const matrix_layout& y = operands.back();
        rows = y.rows;
        cols = y.cols;
        unit_stride = std::ranges::all_of(
            operands, [](const matrix_layout& m) { return m.cols == 1 || m.col_stride == 1; });
        is_crossed = !is_row_major(y);
    }

    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t element_bytes;
    int block_elements;       ///< elements per block of Philox: 2 for uniform and normal doubles, else 4
    bool unit_stride = true;  ///< the elements of each row lie side by side, in all operands
    bool is_crossed = false;  ///< neighbours in the output's memory are elements of one column
};

}  // namespace heddle::kernels::random
