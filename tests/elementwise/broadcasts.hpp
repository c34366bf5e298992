#pragma once

#include "tests/elementwise/operation_calls.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// What an input has for a matrix.
enum class shape_of_input { matrix, row, column, element };
inline constexpr std::array shapes_of_inputs{shape_of_input::matrix, shape_of_input::row,
                                             shape_of_input::column, shape_of_input::element};

inline const char* name_of(shape_of_input shape) {
    constexpr const char* names[] = {"matrix", "row", "column", "element"};
    return names[static_cast<std::size_t>(shape)];
}

/// An input of rows x cols, of which strides of 0 make one row, column or element of memory.
template <class T>
class spread {
  public:
    /// `of(size)` gives that many elements, and first what is at the first places.
    template <class Elements>
    spread(std::int64_t rows, std::int64_t cols, shape_of_input shape, const row_layout& layout,
           typename guarded<T>::memory where, Elements of)
        : rows_(rows),
          cols_(cols),
          has_one_row_(shape == shape_of_input::row || shape == shape_of_input::element),
          has_one_col_(shape == shape_of_input::column || shape == shape_of_input::element),
          stored_rows_(has_one_row_ ? 1 : rows),
          stored_cols_(has_one_col_ ? 1 : cols),
          stored_(of(stored_rows_ * stored_cols_)),
          memory_(make_rows<T>(stored_rows_, stored_cols_, layout, where)) {
        memory_.upload(stored_);
    }

    matrix_view<T> matrix() {
        const matrix_view<T> m = memory_.matrix();
        return {m.data, rows_, cols_, has_one_row_ ? 0 : m.row_stride, has_one_col_ ? 0 : m.col_stride};
    }

    /// At each place of the matrix, in row-major order.
    std::vector<T> elements() const {
        std::vector<T> all;
        all.reserve(static_cast<std::size_t>(rows_ * cols_));
        for (std::int64_t row = 0; row < rows_; ++row)
            for (std::int64_t col = 0; col < cols_; ++col)
                all.push_back(stored_[static_cast<std::size_t>((has_one_row_ ? 0 : row) * stored_cols_ +
                                                               (has_one_col_ ? 0 : col))]);
        return all;
    }

    bool untouched() { return memory_.untouched(); }

  private:
    std::int64_t rows_, cols_;
    bool has_one_row_, has_one_col_;
    std::int64_t stored_rows_, stored_cols_;
    std::vector<T> stored_;
    guarded<T> memory_;
};

/// An operation with its inputs, of shapes and layouts that are drawn: each of its own, or rows that lie alike in packets.
template <class T>
class drawn_call {
  public:
    drawn_call(elementwise_operation operation, drawing& draw, typename guarded<T>::memory where)
        : operation_(operation),
          where_(where),
          rows_(draw(1, std::int64_t{1} << draw(1, 8))),
          cols_(draw(1, std::max<std::int64_t>(1, 12000 / rows_))),
          in_packets_(draw(0, 1) == 0),
          offset_(draw(0, 1) * draw(0, packet - 1)),
          x_(draw_input(draw, inputs<T>)),
          y_(draw_input(draw, partners<T>)),
          z_(draw_input(draw, partners<T>)),
          out_layout_(draw_layout(draw)) {}

    /// `call(inputs, output)` is made and its results are checked, with all bytes around them.
    template <class Call>
    void check(bool fast, Call call) {
        SCOPED_TRACE(testing::Message() << to_string(operation_) << ' ' << rows_ << " x " << cols_ << ": "
                                        << shapes_[0] << ", " << shapes_[1] << ", " << shapes_[2]);
        const std::array<std::vector<T>, 3> in{x_.elements(), y_.elements(), z_.elements()};
        guarded<T> out = make_rows<T>(rows_, cols_, out_layout_, where_);
        if (operation_ == elementwise_operation::axpy) out.upload(in[1]);
        const matrix_view<T> views[3] = {x_.matrix(), y_.matrix(), z_.matrix()};
        call(views, out.matrix());
        ASSERT_NO_FATAL_FAILURE(expect_right(operation_, out.download(), in, fast));
        ASSERT_TRUE(out.canaries_alive());
        ASSERT_TRUE(x_.untouched() && y_.untouched() && z_.untouched());
    }

  private:
    static constexpr std::int64_t packet = 16 / sizeof(T);

    row_layout draw_layout(drawing& draw) const {
        if (in_packets_) return {.offset = offset_, .padding = (packet - cols_ % packet) % packet};
        return draw_row_layout(draw);
    }

    template <class Elements>
    spread<T> draw_input(drawing& draw, Elements of) {
        const auto shape = shapes_of_inputs[static_cast<std::size_t>(draw(0, 3))];
        shapes_[drawn_++] = name_of(shape);
        return {rows_, cols_, shape, draw_layout(draw), where_, of};
    }

    elementwise_operation operation_;
    typename guarded<T>::memory where_;
    std::int64_t rows_, cols_;
    bool in_packets_;
    std::int64_t offset_;
    std::size_t drawn_ = 0;
    std::array<const char*, 3> shapes_{};
    spread<T> x_, y_, z_;
    row_layout out_layout_;
};

}  // namespace heddle::test
