#include "tests/matrix_reduce/matrix_reduce_test.hpp"
#include <heddle/graph.hpp>
#include <heddle/workspace.hpp>

#include <algorithm>
#include <utility>

namespace heddle {
namespace {

using shape = test::matrix_shape;
using test::along;
using test::guarded;
using test::random_elements;

template <class T>
using matrix_reduce = test::reduced_matrix<T>;
TYPED_TEST_SUITE(matrix_reduce, test::row_types, test::type_names);

/// Off by one around packets, lanes, warps, blocks and strips.
TYPED_TEST(matrix_reduce, takes_every_shape) {
    const shape shapes[] = {{0, 0},    {0, 5},    {5, 0},     {1, 1},      {1, 7},     {7, 1},
                            {3, 5},    {2, 33},   {33, 2},    {17, 31},    {31, 32},   {33, 33},
                            {64, 64},  {65, 63},  {127, 129}, {128, 128},  {257, 255}, {5, 511},
                            {5, 512},  {9, 513},  {100, 8},   {1000, 3},   {3001, 16}, {7, 1024},
                            {9, 1025}, {3, 2047}, {3, 2049},  {20, 4096},  {1025, 17}, {4099, 5},
                            {1, 1009}, {1009, 1}, {4500, 70}, {1, 100003}, {100003, 1}};
    for (const shape& s : shapes) ASSERT_NO_FATAL_FAILURE(this->check(s));
}

/// Off by one around what a thread takes alone, wherever packets begin, and around its blocks.
TYPED_TEST(matrix_reduce, takes_short_rows_of_every_length) {
    for (const std::int64_t rows : {127, 129, 1025})
        for (const std::int64_t cols : {2, 3, 7, 8, 9, 17, 31, 33, 65})
            ASSERT_NO_FATAL_FAILURE(this->check(shape(rows, cols, cols, (rows + cols) % 9, 1)));
    for (std::int64_t offset = 0; offset <= 8; offset += 2)
        for (const std::int64_t cols : {3, 17}) {
            ASSERT_NO_FATAL_FAILURE(this->check(shape(300, cols, cols, offset, 1)));
            ASSERT_NO_FATAL_FAILURE(this->check(shape(cols, 515, 515, offset, 1)));
        }
    for (const std::int64_t rows : {1, 2, 7, 8, 9})
        for (const std::int64_t cols : {255, 256, 257, 1025})
            ASSERT_NO_FATAL_FAILURE(this->check(shape(rows, cols, cols + 3, 1, 1)));
}

/// Rows and ranges of rows that blocks share: one ticket for one of them, and one for several.
TYPED_TEST(matrix_reduce, shares_long_rows_and_columns_among_blocks) {
    for (const shape& s : {shape{3, 70001}, {70000, 8}, {70001, 3}, {66, 33000}, {300, 17000}})
        ASSERT_NO_FATAL_FAILURE(this->check(s));
}
TYPED_TEST(matrix_reduce, of_drawn_problems_take_every_plan) {
    constexpr int draws = 70;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        // Wide matrices as often as tall ones: up to 2^1 columns, up to 2^2, ...
        const std::int64_t cols = draw(1, std::int64_t{1} << draw(1, 17));
        const std::int64_t rows = draw(1, std::max<std::int64_t>(1, 100000 / cols));
        const std::int64_t step = draw(0, 4) == 0 ? draw(2, 3) : 1, padding = draw(0, 1) * draw(0, 9);
        const std::int64_t offset = draw(0, 1) * draw(0, 8);
        const bool is_column_major = draw(0, 3) == 0;
        const std::int64_t line = (is_column_major ? rows : cols) * step + padding;
        SCOPED_TRACE(testing::Message() << "draw " << i);
        ASSERT_NO_FATAL_FAILURE(this->check(is_column_major ? shape(rows, cols, step, offset, line)
                                                            : shape(rows, cols, line, offset, step)));
    }
}

TYPED_TEST(matrix_reduce, gives_the_same_bits_every_time_and_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{9, 150001}, {30000, 72}}) {
        const auto elements = random_elements<TypeParam>(rows * cols);
        guarded<TypeParam> x(rows, cols, cols);
        x.upload(elements);
        const matrix_view<const TypeParam> view = x.matrix();
        for (const along direction : {along::rows, along::columns}) {
            const std::int64_t size = direction == along::rows ? rows : cols;
            guarded<float> first(size), again(size), transposed_sum(size);
            const auto reduce = [&](guarded<float>& y, const matrix_reduce_options& options = {}) {
                if (direction == along::rows)
                    row_sum<TypeParam>(view, y.vector(), *this->stream, options);
                else
                    column_sum<TypeParam>(view, y.vector(), *this->stream, options);
            };
            workspace scratch(
                matrix_reduce_workspace_bytes(test::problem_of(direction, view), this->device()),
                *this->stream);
            reduce(first);
            this->stream->synchronize();
            const auto expected = first.download();
            if (direction == along::rows)
                column_sum<TypeParam>(transposed(view), transposed_sum.vector(), *this->stream);
            else
                row_sum<TypeParam>(transposed(view), transposed_sum.vector(), *this->stream);
            this->stream->synchronize();
            EXPECT_EQ(transposed_sum.download(), expected);

            const graph captured =
                graph::capture(*this->stream, [&] { reduce(again, {.workspace = scratch}); });
            for (int i = 0; i < 10; ++i) {
                again.upload(std::vector<float>(static_cast<std::size_t>(size), -1));
                if (i % 2 == 0)
                    captured.launch(*this->stream);
                else
                    reduce(again, {.workspace = scratch});
                this->stream->synchronize();
                ASSERT_EQ(again.download(), expected);
            }
        }
    }
}

}  // namespace
}  // namespace heddle
