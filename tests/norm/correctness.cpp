#include "tests/norm/norm_rows.hpp"
#include <heddle/graph.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle {
namespace {

using operation = test::norm_operation;
using test::every_algorithm;
using test::guarded;
using test::random_elements;
using test::row_layout;

template <class T>
using norm_rows = test::norm_rows<T>;
TYPED_TEST_SUITE(norm_rows, test::row_types, test::type_names);

TYPED_TEST(norm_rows, take_every_shape) {
    for (const auto& [rows, cols] : test::row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
    }
}

TYPED_TEST(norm_rows, take_long_rows) {
    for (const auto& [rows, cols] : test::long_row_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {}, {norm_algorithm::block_per_row, norm_algorithm::vectorized}));
    }
}

TYPED_TEST(norm_rows, of_drawn_problems_take_every_plan) {
    constexpr int draws = 70;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const auto [rows, cols] = test::draw_row_shape(draw);
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols,
                                            {.x = test::draw_row_layout(draw),
                                             .y = test::draw_row_layout(draw),
                                             .parameter_offset = draw(0, 1) * draw(0, 8),
                                             .parameter_stride = draw(0, 4) == 0 ? draw(2, 3) : 1,
                                             .has_parameters = draw(0, 3) != 0}));
    }
}

TYPED_TEST(norm_rows, take_no_parameters) {
    for (const std::int64_t cols : {1, 17, 128, 1024, 5000, 140001}) {
        SCOPED_TRACE(cols);
        ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {.has_parameters = false},
                                            {norm_algorithm::block_per_row, norm_algorithm::vectorized}));
    }
}

TYPED_TEST(norm_rows, are_accurate_far_from_zero) {
    // A difference of squares would lose the variance of these altogether.
    for (const double center : {100.0, -1000.0})
        for (const std::int64_t cols : {7, 128, 1024, 4097, 30000, 150000}) {
            SCOPED_TRACE(testing::Message() << cols << " columns about " << center);
            const auto xs = random_elements<TypeParam>(2 * cols, center - 5, center + 5);
            ASSERT_NO_FATAL_FAILURE(
                this->check(xs, 2, cols, {}, {norm_algorithm::block_per_row, norm_algorithm::vectorized}));
        }
}

TYPED_TEST(norm_rows, work_in_place) {
    for (const std::int64_t cols : {3, 128, 1024, 5000, 40000, 140001})
        for (const norm_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            guarded<TypeParam> x(2, cols, cols + 4);
            if (!test::takes(algorithm, x.matrix(), {}, {}, x.matrix())) continue;
            const auto xs = random_elements<TypeParam>(2 * cols, -5, 5);
            const norm_options options{.algorithm = algorithm};
            x.upload(xs);
            layer_norm<TypeParam>(x.matrix(), {}, {}, x.matrix(), *this->stream, options);
            this->stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(this->expect(operation::layer_norm, x, xs, {}, {}, cols, options));
            x.upload(xs);
            rms_norm<TypeParam>(x.matrix(), {}, x.matrix(), *this->stream, options);
            this->stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(this->expect(operation::rms_norm, x, xs, {}, {}, cols, options));
        }
}

TYPED_TEST(norm_rows, work_in_place_in_columns) {
    for (const auto& [rows, cols] : {std::pair{3, 40000}, {40, 700}, {1000, 20}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        guarded<TypeParam> x = test::make_rows<TypeParam>(rows, cols, {.padding = 1, .column_major = true});
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -5, 5);
        x.upload(xs);
        layer_norm<TypeParam>(x.matrix(), {}, {}, x.matrix(), *this->stream);
        this->stream->synchronize();
        ASSERT_NO_FATAL_FAILURE(this->expect(operation::layer_norm, x, xs, {}, {}, cols, {}));
    }
}

TYPED_TEST(norm_rows, give_the_same_bits_in_a_graph) {
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4);
        guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols), again(rows, cols, cols);
        x.upload(xs);
        layer_norm<TypeParam>(x.matrix(), {}, {}, y.matrix(), *this->stream);
        const graph captured = graph::capture(
            *this->stream, [&] { layer_norm<TypeParam>(x.matrix(), {}, {}, again.matrix(), *this->stream); });
        for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
        this->stream->synchronize();
        const auto first = y.download(), second = again.download();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(TypeParam)), 0);
    }
}

}  // namespace
}  // namespace heddle
