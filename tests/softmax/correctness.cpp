#include "tests/softmax/softmax_rows.hpp"
#include <heddle/graph.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle {
namespace {

using reference = test::expected_softmax;
using test::every_algorithm;
using test::guarded;
using test::random_elements;
using test::row_layout;

template <class T>
using softmax_rows = test::softmax_rows<T>;
TYPED_TEST_SUITE(softmax_rows, test::row_types, test::type_names);

TYPED_TEST(softmax_rows, takes_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(softmax_rows, takes_long_rows) {
    for (const auto& [rows, cols] : test::long_row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {}, {}, {softmax_algorithm::online, softmax_algorithm::vectorized}));
    }
}

TYPED_TEST(softmax_rows, of_drawn_problems_take_every_plan) {
    constexpr int draws = 70;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const auto [rows, cols] = test::draw_row_shape(draw);
        const row_layout x = test::draw_row_layout(draw), y = test::draw_row_layout(draw);
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, x, y));
    }
}

TYPED_TEST(softmax_rows, works_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 5000, 40000, 140001})
        for (const softmax_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            guarded<TypeParam> x(2, cols, cols + 4);
            if (!test::takes(algorithm, x.matrix(), x.matrix())) continue;
            const auto xs = random_elements<TypeParam>(2 * cols, -5, 5);
            const reference expected(xs, cols, test::softmax_steps_of(algorithm, cols));
            x.upload(xs);
            softmax<TypeParam>(x.matrix(), x.matrix(), *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            ASSERT_TRUE(test::are_within(x.download(), expected.softmax, expected.bounds));
            x.upload(xs);
            log_softmax<TypeParam>(x.matrix(), x.matrix(), *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            ASSERT_TRUE(test::are_within(x.download(), expected.log_softmax, expected.log_bounds));
            ASSERT_TRUE(x.canaries_alive());
        }
}

TYPED_TEST(softmax_rows, work_in_place_in_columns) {
    for (const auto& [rows, cols] : {std::pair{3, 40000}, {40, 700}, {1000, 20}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        guarded<TypeParam> x = test::make_rows<TypeParam>(rows, cols, {.padding = 1, .column_major = true});
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -5, 5);
        const reference expected(xs, cols, test::softmax_steps_of(softmax_algorithm::strips, cols));
        x.upload(xs);
        softmax<TypeParam>(x.matrix(), x.matrix(), *this->stream);
        this->stream->synchronize();
        ASSERT_TRUE(test::are_within(x.download(), expected.softmax, expected.bounds));
        ASSERT_TRUE(x.canaries_alive());
    }
}

TYPED_TEST(softmax_rows, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
        guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols), again(rows, cols, cols);
        x.upload(xs);
        softmax<TypeParam>(x.matrix(), y.matrix(), *this->stream);
        const graph captured = graph::capture(
            *this->stream, [&] { softmax<TypeParam>(x.matrix(), again.matrix(), *this->stream); });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto first = y.download(), second = again.download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
    }
}

}  // namespace
}  // namespace heddle
