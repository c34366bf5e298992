#include "tests/loss/loss_rows.hpp"
#include "tests/support/special_rows.hpp"

#include <cmath>
#include <type_traits>

namespace heddle {
namespace {

using test::every_loss_algorithm;
using test::guarded;
using test::random_labels;
using test::row_layout;

template <class T>
using loss_edges = test::loss_rows<T>;
TYPED_TEST_SUITE(loss_edges, test::row_types, test::type_names);

TYPED_TEST(loss_edges, take_every_alignment_and_padding) {
    for (const std::int64_t cols : {5, 32, 128, 1000, 1024, 4096, 10000, 40000, 140000, 262152, 524296})
        for (const row_layout& l :
             {row_layout{.offset = 1}, {.padding = 1}, {.padding = 8}, {.offset = 3, .padding = 5}}) {
            SCOPED_TRACE(testing::Message()
                         << cols << " columns, offset " << l.offset << ", padding " << l.padding);
            const std::vector<loss_algorithm> algorithms = {loss_algorithm::vectorized};
            const bool is_short = cols <= test::short_row;
            ASSERT_NO_FATAL_FAILURE(this->check(is_short ? 3 : 2, cols, l, l, algorithms));
            if (!is_short) continue;
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, l, {}, algorithms));
            ASSERT_NO_FATAL_FAILURE(this->check(3, cols, {}, l, algorithms));
        }
}

TYPED_TEST(loss_edges, take_spaced_and_transposed_matrices) {
    for (const auto& [rows, cols] : test::strided_shapes()) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.step = 2}, {.padding = 1, .step = 3}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.column_major = true}, {}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.offset = 1}, {.column_major = true}));
    }
}

TYPED_TEST(loss_edges, are_defined_for_infinities_and_pass_on_nan) {
    for (const std::int64_t cols :
         {1, 2, 3, 32, 100, 1024, 1025, 4096, 9001, 20000, 40000, 140001, 140008, 262145, 262152, 524296})
        for (const float smoothing : {0.0f, 0.25f}) {
            const bool is_short = cols <= test::short_row;
            if (!is_short && smoothing == 0) continue;
            SCOPED_TRACE(testing::Message() << cols << " columns, smoothing " << smoothing);
            const auto xs = test::special_rows<TypeParam>(cols);
            const std::int64_t rows = std::ssize(xs) / cols;
            const auto algorithms =
                cols < 10000 ? every_loss_algorithm() : std::vector{loss_algorithm::vectorized};
            const auto places =
                is_short ? std::vector{std::int64_t{0}, cols / 2, cols - 1} : std::vector{cols / 2};
            for (const std::int64_t place : places) {
                const std::vector<std::int32_t> labels(static_cast<std::size_t>(rows),
                                                       static_cast<std::int32_t>(place));
                ASSERT_NO_FATAL_FAILURE(this->check_cross_entropy(
                    xs, labels, cols, {}, {}, {.label_smoothing = smoothing}, algorithms));
            }
        }
}

TYPED_TEST(loss_edges, of_equal_infinities_are_shares) {
    const TypeParam low = -test::infinity<TypeParam>(), high = test::infinity<TypeParam>();
    const std::vector<TypeParam> xs = {low,  low, low,  low,          high, TypeParam(1),
                                       high, low, high, TypeParam(1), high, low};
    for (const loss_algorithm algorithm : every_loss_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(3, 4, 4), y(3, 4, 4);
        guarded<std::int32_t> label(3);
        guarded<float> loss(3);
        x.upload(xs);
        label.upload({1, 2, 3});
        cross_entropy<TypeParam>(x.matrix(), label.vector(), loss.vector(), y.matrix(), *this->stream,
                                 {.algorithm = algorithm});
        this->stream->synchronize();
        const auto losses = loss.download();
        EXPECT_NEAR(losses[0], std::log(4.0), 1e-6);
        EXPECT_NEAR(losses[1], std::log(2.0), 1e-6);
        EXPECT_EQ(losses[2], test::infinity<float>());
        const std::vector<double> expected = {.25, -.75, .25, .25, .5, 0, -.5, 0, .5, 0, .5, -1};
        const auto result = y.download();
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_EQ(test::to_double(result[i]), expected[i]) << i;
    }
}

TYPED_TEST(loss_edges, of_ignored_rows_are_zero_whatever_they_hold) {
    for (const std::int64_t cols : {4, 3000, 30000, 140001, 262145, 262152, 524296})
        for (const loss_algorithm algorithm : test::loss_algorithms_for(cols)) {
            SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(algorithm));
            guarded<TypeParam> x(2, cols, cols), y(2, cols, cols);
            guarded<std::int32_t> label(2);
            guarded<float> loss(2);
            x.upload(
                std::vector<TypeParam>(static_cast<std::size_t>(2 * cols), test::not_a_number<TypeParam>()));
            label.upload({2, 7 + static_cast<std::int32_t>(cols)});
            const auto run = [&](std::int32_t ignored) {
                cross_entropy<TypeParam>(
                    x.matrix(), label.vector(), loss.vector(), y.matrix(), *this->stream,
                    {.algorithm = algorithm, .ignore_label = ignored, .label_smoothing = 0.5f});
                this->stream->synchronize();
            };
            run(2);
            EXPECT_EQ(loss.download()[0], 0);
            EXPECT_TRUE(std::isnan(loss.download()[1]));
            const auto result = y.download();
            for (std::int64_t i = 0; i < 2 * cols; ++i) {
                const double value = test::to_double(result[static_cast<std::size_t>(i)]);
                ASSERT_TRUE(i < cols ? value == 0 : std::isnan(value)) << i;
            }
            run(7 + static_cast<std::int32_t>(cols));  // a label that is no column may be ignored, too
            EXPECT_TRUE(std::isnan(loss.download()[0]));
            EXPECT_EQ(loss.download()[1], 0);
        }
}

/// A difference may be beyond float, and its share of the gradient not.
TYPED_TEST(loss_edges, of_squares_of_large_numbers_have_finite_gradients) {
    const TypeParam large(std::is_same_v<TypeParam, half> ? 6e4f : 3e38f),
        opposite(-static_cast<float>(large));
    for (const std::int64_t cols : {8, 200, 5000})
        for (const loss_algorithm algorithm : every_loss_algorithm()) {
            SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", " << cols << " columns");
            const auto size = static_cast<std::size_t>(cols);
            guarded<TypeParam> x(1, cols, cols), t(1, cols, cols), y(1, cols, cols);
            guarded<float> loss(1);
            x.upload(std::vector<TypeParam>(size, large));
            t.upload(std::vector<TypeParam>(size, opposite));
            mean_squared_error<TypeParam>(x.matrix(), t.matrix(), loss.vector(), y.matrix(), *this->stream,
                                          {.algorithm = algorithm});
            this->stream->synchronize();
            const double expected = 4 * test::to_double(large) / static_cast<double>(cols);
            const double bound =
                expected * (5 * test::unit_roundoff<float>() + test::unit_roundoff<TypeParam>());
            for (const TypeParam gradient : y.download())
                ASSERT_NEAR(test::to_double(gradient), expected, bound);
        }
}

TYPED_TEST(loss_edges, of_squares_pass_on_what_is_not_finite) {
    const TypeParam high = test::infinity<TypeParam>(), nan = test::not_a_number<TypeParam>();
    for (const loss_algorithm algorithm : every_loss_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(4, 2, 2), t(4, 2, 2), y(4, 2, 2);
        guarded<float> loss(4);
        x.upload({high, TypeParam(1), high, TypeParam(1), nan, TypeParam(1), TypeParam(3), TypeParam(1)});
        t.upload({TypeParam(0), TypeParam(0), high, TypeParam(0), TypeParam(0), TypeParam(0), TypeParam(1),
                  TypeParam(1)});
        mean_squared_error<TypeParam>(x.matrix(), t.matrix(), loss.vector(), y.matrix(), *this->stream,
                                      {.algorithm = algorithm});
        this->stream->synchronize();
        const auto losses = loss.download();
        EXPECT_EQ(losses[0], test::infinity<float>());
        EXPECT_TRUE(std::isnan(losses[1]) && std::isnan(losses[2]));
        EXPECT_EQ(losses[3], 2);
        const auto result = y.download();
        EXPECT_EQ(test::to_double(result[0]), test::infinity<float>());
        EXPECT_TRUE(std::isnan(test::to_double(result[2])) && std::isnan(test::to_double(result[4])));
        for (const std::size_t i : {1, 3, 5}) EXPECT_EQ(test::to_double(result[i]), 1) << i;
        EXPECT_EQ(test::to_double(result[6]), 2);
        EXPECT_EQ(test::to_double(result[7]), 0);
    }
}

}  // namespace
}  // namespace heddle
