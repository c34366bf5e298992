#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class loss_arguments : public testing::Test {
  protected:
    using floats = guarded<float>;
    using integers = guarded<std::int32_t>;
    floats x_{4, 6, 6, 0, 1, floats::memory::host}, y_{4, 6, 6, 0, 1, floats::memory::host},
        loss_{4, 0, floats::memory::host};
    integers labels_{4, 0, integers::memory::host};

    void TearDown() override {
        EXPECT_TRUE(x_.untouched() && y_.untouched() && loss_.untouched() && labels_.untouched());
    }
};

TEST_F(loss_arguments, of_cross_entropy_are_checked_before_anything_is_enqueued) {
    const auto message = [](matrix_view<float> x, vector_view<std::int32_t> labels, vector_view<float> loss,
                            matrix_view<float> y, const cross_entropy_options& options = {}) {
        return invalid_argument_of([&] { cross_entropy<float>(x, labels, loss, y, no_stream, options); });
    };
    const matrix_view<float> x = x_.matrix(), y = y_.matrix();
    const vector_view<float> loss = loss_.vector();
    const vector_view<std::int32_t> labels = labels_.vector();
    EXPECT_EQ(message(x, {labels.data, 3}, loss, y),
              "cross_entropy: labels.size is 3, expected 4 (logits.rows)");
    EXPECT_EQ(message(x, labels, {loss.data, 3}, y),
              "cross_entropy: loss.size is 3, expected 4 (logits.rows)");
    EXPECT_EQ(message(x, labels, loss, {y.data, 4, 5}),
              "cross_entropy: logits.cols is 6, expected 5 (gradient.cols)");
    EXPECT_EQ(message({nullptr, 4, 6}, labels, loss, y),
              "cross_entropy: logits.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(x, {nullptr, 4}, loss, y),
              "cross_entropy: labels.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(x, {labels.data, 4, 0}, loss, y),
              "cross_entropy: labels.stride is 0, expected one or more");
    EXPECT_EQ(
        message({x.data, 3, 6}, {labels.data, 3}, {}, {x.data + 1, 3, 6}),
        "cross_entropy: gradient is a view that overlaps an input in part, expected exactly logits or apart "
        "from it");
    EXPECT_EQ(message(x, labels, {x.data, 4}, {}),
              "cross_entropy: loss is a view that overlaps an operand, expected memory apart from logits");
    EXPECT_EQ(message(x, labels, {y.data, 4}, y),
              "cross_entropy: loss is a view that overlaps an operand, expected memory apart from gradient");
    EXPECT_EQ(message(x, labels, loss, y, {.scale = std::numeric_limits<float>::infinity()}),
              "cross_entropy: options.scale is inf, expected a finite number");
    EXPECT_EQ(message(x, labels, loss, y, {.label_smoothing = 1.5f}),
              "cross_entropy: options.label_smoothing is 1.5, expected 0 to 1");
    EXPECT_EQ(message(x, labels, loss, y, {.label_smoothing = std::numeric_limits<float>::quiet_NaN()}),
              "cross_entropy: options.label_smoothing is nan, expected 0 to 1");
    EXPECT_EQ(message(x, labels, loss, y, {.algorithm = static_cast<loss_algorithm>(99)}),
              "cross_entropy: options.algorithm is 99, expected an enumerator of loss_algorithm");
    expect_error("host::cross_entropy: labels.size is 3, expected 4 (logits.rows)", [&] {
        host::cross_entropy<float>(x, {labels.data, 3}, loss, y);
    });
}

TEST_F(loss_arguments, of_mean_squared_error_are_checked_before_anything_is_enqueued) {
    const auto message = [](matrix_view<float> x, matrix_view<float> t, vector_view<float> loss,
                            matrix_view<float> y, const mean_squared_error_options& options = {}) {
        return invalid_argument_of([&] { mean_squared_error<float>(x, t, loss, y, no_stream, options); });
    };
    const matrix_view<float> x = x_.matrix(), y = y_.matrix();
    const vector_view<float> loss = loss_.vector();
    EXPECT_EQ(message(x, {y.data, 3, 6}, loss, {}),
              "mean_squared_error: target.rows is 3, expected 4 (prediction.rows)");
    EXPECT_EQ(message(x, {y.data, 4, 5}, loss, {}),
              "mean_squared_error: target.cols is 5, expected 6 (prediction.cols)");
    EXPECT_EQ(message(x, y, {loss.data, 5}, y),
              "mean_squared_error: loss.size is 5, expected 4 (prediction.rows)");
    EXPECT_EQ(
        message(x, y, {y.data, 4}, {}),
        "mean_squared_error: loss is a view that overlaps an operand, expected memory apart from target");
    EXPECT_EQ(message(x, y, loss, y, {.scale = std::numeric_limits<float>::quiet_NaN()}),
              "mean_squared_error: options.scale is nan, expected a finite number");
}

TEST_F(loss_arguments, of_label_hits_are_checked_before_anything_is_enqueued) {
    const vector_view<std::int32_t> labels = labels_.vector();
    expect_error("label_hits: hits.size is 3, expected 4 (scores.rows)", [&] {
        label_hits<float>(x_.matrix(), labels, {labels.data, 3}, no_stream);
    });
    expect_error("label_hits: hits is a view that overlaps an operand, expected memory apart from labels",
                 [&] { label_hits<float>(x_.matrix(), labels, labels, no_stream); });
}

TEST_F(loss_arguments, may_be_empty) {
    const matrix_view<float> no_rows{nullptr, 0, 6}, no_cols{nullptr, 4, 0};
    EXPECT_NO_THROW(cross_entropy<float>(no_rows, {}, {}, no_rows, no_stream));
    EXPECT_NO_THROW(cross_entropy<float>(no_cols, labels_.vector(), loss_.vector(), no_cols, no_stream));
    EXPECT_NO_THROW(cross_entropy<float>(x_.matrix(), labels_.vector(), {}, {}, no_stream));
    EXPECT_NO_THROW(mean_squared_error<float>(no_cols, no_cols, loss_.vector(), {}, no_stream));
    EXPECT_NO_THROW(label_hits<float>(no_rows, {}, {}, no_stream));
    EXPECT_NO_THROW(host::cross_entropy<float>(no_cols, labels_.vector(), loss_.vector(), no_cols));
}

class loss_unsupported : public gpu_test {};

TEST_F(loss_unsupported, vectorized_needs_rows_side_by_side) {
    guarded<float> x(4, 6, 13, 0, 2), y(4, 6, 6), loss(4);
    guarded<std::int32_t> labels(4);
    EXPECT_THROW(cross_entropy<float>(x.matrix(), labels.vector(), loss.vector(), y.matrix(), no_stream,
                                      {.algorithm = loss_algorithm::vectorized}),
                 unsupported);
    EXPECT_TRUE(y.untouched() && loss.untouched());
}

}  // namespace
}  // namespace heddle::test
