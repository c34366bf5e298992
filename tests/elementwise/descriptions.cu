#include <heddle/elementwise.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace heddle {
namespace {

using detail::elementwise_way;

/// How a call of float inputs and an output is prepared and shared out. No element is touched.
struct prepared {
    std::vector<detail::operand> operands;
    detail::elementwise_facts problem;

    prepared(std::initializer_list<matrix_view<const float>> views) {
        for (const matrix_view<const float>& view : views)
            operands.push_back(
                detail::operand_of(operands.size() + 1 == views.size() ? "output" : "input", view));
        problem = detail::prepare_elementwise("transform", operands, sizeof(float));
    }

    bool is_wide() const { return detail::gains_by_wide_blocks(problem); }
    elementwise_way way() const {
        using tile = detail::elementwise_tile;
        return detail::plan_transform(problem, is_wide() ? tile::wide_threads : tile::threads).way;
    }
    /// The strides of an operand, as rungs see it.
    std::vector<std::int64_t> strides(std::size_t i) const {
        return {operands[i].view.row_stride, operands[i].view.col_stride};
    }
};

class elementwise_descriptions : public testing::Test {
  protected:
    static constexpr std::int64_t rows = 64, cols = 96;

    alignas(16) float x_[rows * cols];
    alignas(16) float y_[rows * cols];
    alignas(16) float out_[rows * cols];

    const matrix_view<const float> x{x_, rows, cols}, out{out_, rows, cols};
    const matrix_view<const float> row = as_rows(vector_view<const float>{y_, cols}, rows);
    const matrix_view<const float> column = as_columns(vector_view<const float>{y_, rows}, cols);
    const matrix_view<const float> element{y_, rows, cols, 0, 0};
};

TEST_F(elementwise_descriptions, of_full_inputs_have_no_broadcasts) {
    const prepared call{x, x, out};
    EXPECT_EQ(call.problem.rows, 1);
    EXPECT_EQ(call.problem.cols, rows * cols);
    EXPECT_EQ(call.problem.broadcasts, 0);
    EXPECT_FALSE(call.problem.fills_packets);
    EXPECT_EQ(call.way(), elementwise_way::packets);
}

TEST_F(elementwise_descriptions, of_a_row_keep_the_rows_and_take_packets) {
    for (const prepared& call : {prepared{x, row, out}, prepared{row, x, out}, prepared{row, out}}) {
        EXPECT_EQ(call.problem.rows, rows);
        EXPECT_EQ(call.problem.cols, cols);
        EXPECT_EQ(call.problem.broadcasts, 1);
        EXPECT_TRUE(call.problem.in_packets);
        EXPECT_FALSE(call.problem.fills_packets);
        EXPECT_FALSE(call.problem.is_crossed);
        EXPECT_EQ(call.way(), elementwise_way::packets);
    }
    const std::vector<std::int64_t> strides{0, 1};
    EXPECT_EQ((prepared{x, row, out}.strides(1)), strides);
}

TEST_F(elementwise_descriptions, of_a_column_keep_the_rows_and_fill_packets) {
    for (const prepared& call :
         {prepared{x, column, out}, prepared{column, x, out}, prepared{column, column, out}}) {
        EXPECT_EQ(call.problem.rows, rows);
        EXPECT_EQ(call.problem.cols, cols);
        EXPECT_TRUE(call.problem.in_packets);
        EXPECT_TRUE(call.problem.fills_packets);
        EXPECT_FALSE(call.problem.is_crossed);
        EXPECT_EQ(call.way(), elementwise_way::mixed_packets);
    }
    const prepared mixed{x, column, row, out};
    EXPECT_EQ(mixed.problem.broadcasts, 2);
    EXPECT_EQ(mixed.way(), elementwise_way::mixed_packets);
    const std::vector<std::int64_t> strides{1, 0};
    EXPECT_EQ((prepared{x, column, out}.strides(1)), strides);
}

TEST_F(elementwise_descriptions, of_an_element_are_one_row) {
    const prepared call{x, element, out};
    EXPECT_EQ(call.problem.rows, 1);
    EXPECT_EQ(call.problem.cols, rows * cols);
    EXPECT_EQ(call.problem.broadcasts, 1);
    EXPECT_EQ(call.strides(1).back(), 0);
    EXPECT_EQ(call.way(), elementwise_way::mixed_packets);
    // But where another operand has rows.
    EXPECT_EQ((prepared{x, element, row, out}.problem.rows), rows);
    EXPECT_EQ((prepared{matrix_view<const float>{x_, rows, cols - 4, cols},
                        {y_, rows, cols - 4, 0, 0},
                        {out_, rows, cols - 4, cols}}
                   .problem.rows),
              rows);
}

TEST_F(elementwise_descriptions, of_a_column_alone_go_by_element) {
    for (const prepared& call : {prepared{column, out}, prepared{element, out}}) {
        EXPECT_FALSE(call.problem.in_packets);
        EXPECT_FALSE(call.problem.fills_packets);
        EXPECT_EQ(call.problem.broadcasts, 1);
        EXPECT_EQ(call.way(), elementwise_way::along_rows);
    }
}

TEST_F(elementwise_descriptions, of_a_row_that_begins_elsewhere_go_by_element) {
    const prepared call{x, as_rows(vector_view<const float>{y_ + 1, cols}, rows), out};
    EXPECT_FALSE(call.problem.in_packets);
    EXPECT_EQ(call.way(), elementwise_way::along_rows);
    const prepared apart{x, as_rows(vector_view<const float>{y_, cols, 2}, rows), out};
    EXPECT_FALSE(apart.problem.in_packets);
    EXPECT_FALSE(apart.problem.is_crossed);
    EXPECT_EQ(apart.way(), elementwise_way::along_rows);
}

TEST(elementwise_descriptions_of_16_bits, shift_the_packets_of_inputs_that_begin_elsewhere) {
    constexpr std::int64_t size = 256;
    alignas(16) std::uint16_t x[size + 8], out[size];
    const auto describe = [&](std::int64_t begin, std::int64_t count, std::int64_t step) {
        detail::operand operands[] = {
            detail::operand_of("input", matrix_view<const std::uint16_t>{x + begin, 1, count, 1, step}),
            detail::operand_of("output", matrix_view<std::uint16_t>{out, 1, count, 1})};
        return detail::prepare_elementwise("transform", operands, sizeof(std::uint16_t));
    };
    EXPECT_FALSE(describe(0, size, 1).shifts_packets);
    EXPECT_FALSE(describe(8, size, 1).shifts_packets);
    const detail::elementwise_facts shifted = describe(3, size, 1);
    EXPECT_TRUE(shifted.in_packets);
    EXPECT_TRUE(shifted.shifts_packets);
    EXPECT_FALSE(shifted.fills_packets);
    EXPECT_EQ(detail::plan_transform(shifted, detail::elementwise_tile::threads).way,
              elementwise_way::mixed_packets);
    // The packets of a short row would be cut for the most part, and elements with gaps lie in no packets.
    EXPECT_FALSE(describe(3, 100, 1).in_packets);
    EXPECT_FALSE(describe(0, size / 2, 2).in_packets);
}

TEST_F(elementwise_descriptions, of_column_major_operands_exchange_rows_and_columns) {
    const prepared by_row{transposed(x), transposed(row), transposed(out)};
    EXPECT_EQ(by_row.problem.rows, rows);
    EXPECT_EQ(by_row.way(), elementwise_way::packets);
    const prepared by_column{transposed(x), transposed(column), transposed(out)};
    EXPECT_EQ(by_column.problem.rows, rows);
    EXPECT_EQ(by_column.way(), elementwise_way::mixed_packets);
}

TEST_F(elementwise_descriptions, of_inputs_that_lie_across_take_tiles_beside_broadcasts) {
    const matrix_view<const float> across{x_, rows, cols, 1, rows};
    for (const prepared& call : {prepared{across, row, out}, prepared{across, column, out}}) {
        EXPECT_TRUE(call.problem.is_crossed);
        EXPECT_FALSE(call.problem.fills_packets);
        EXPECT_EQ(call.way(), elementwise_way::tiles);
    }
}

TEST_F(elementwise_descriptions, of_single_rows_and_columns_have_no_broadcasts) {
    const prepared single_row{matrix_view<const float>{x_, 1, cols, 0}, {y_, 1, cols, 0}, {out_, 1, cols, 0}};
    EXPECT_EQ(single_row.problem.broadcasts, 0);
    EXPECT_EQ(single_row.way(), elementwise_way::packets);
    const prepared single_column{
        matrix_view<const float>{x_, rows, 1, 1, 0}, {y_, rows, 1, 1, 0}, {out_, rows, 1, 1, 0}};
    EXPECT_EQ(single_column.problem.broadcasts, 0);
    EXPECT_EQ(single_column.way(), elementwise_way::packets);
    const prepared single_element{
        matrix_view<const float>{x_, 1, 1, 0, 0}, {y_, 1, 1, 0, 0}, {out_, 1, 1, 0, 0}};
    EXPECT_EQ(single_element.problem.broadcasts, 0);
    EXPECT_EQ(single_element.way(), elementwise_way::packets);
}

TEST(elementwise_plans, have_wide_blocks_for_two_full_inputs) {
    detail::elementwise_facts large{.rows = 1 << 13, .cols = 1 << 13, .inputs = 2};
    EXPECT_TRUE(detail::gains_by_wide_blocks(large));
    large.broadcasts = 1;
    EXPECT_FALSE(detail::gains_by_wide_blocks(large));
    large.inputs = 3;
    EXPECT_TRUE(detail::gains_by_wide_blocks(large));
    large.fills_packets = true;
    EXPECT_FALSE(detail::gains_by_wide_blocks(large));
}

}  // namespace
}  // namespace heddle
