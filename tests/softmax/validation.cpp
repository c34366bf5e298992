#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(softmax_arguments, are_checked_before_anything_is_enqueued) {
    using host_memory = guarded<float>;
    host_memory x{4, 6, 6, 0, 1, host_memory::memory::host}, y{4, 6, 6, 0, 1, host_memory::memory::host};
    const auto message = [&](matrix_view<float> vx, matrix_view<float> vy, softmax_options options = {}) {
        const auto text = invalid_argument_of([&] { softmax<float>(vx, vy, no_stream, options); });
        EXPECT_TRUE(x.untouched() && y.untouched());
        return text;
    };
    const matrix_view<float> in = x.matrix(), out = y.matrix();
    EXPECT_EQ(message({x.data(), 3, 6}, out), "softmax: x.rows is 3, expected 4 (y.rows)");
    EXPECT_EQ(message({x.data(), 4, 5}, out), "softmax: x.cols is 5, expected 6 (y.cols)");
    EXPECT_EQ(message(in, {y.data(), -4, 6}), "softmax: y.rows is -4, expected zero or more");
    EXPECT_EQ(message({nullptr, 4, 6}, out), "softmax: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(
        message(in, {y.data(), 4, 6, 5}),
        "softmax: y.row_stride is 5, expected at least 6 (a row), or a col_stride of at least a column");
    EXPECT_EQ(message({y.data() + 1, 3, 6}, {y.data(), 3, 6}),
              "softmax: y is a view that overlaps an input in part, expected exactly x or apart from it");
    EXPECT_EQ(message(in, out, {.algorithm = static_cast<softmax_algorithm>(99)}),
              "softmax: options.algorithm is 99, expected an enumerator of softmax_algorithm");
    expect_error("log_softmax: x.rows is 3, expected 4 (y.rows)", [&] {
        log_softmax<float>({x.data(), 3, 6}, out, no_stream);
    });
    expect_error("host::softmax: x.rows is 3, expected 4 (y.rows)", [&] {
        host::softmax<float>({x.data(), 3, 6}, out);
    });
    EXPECT_TRUE(x.untouched() && y.untouched());
}

TEST(softmax_arguments, may_be_empty) {
    const matrix_view<float> no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(softmax<float>(no_rows, no_rows, no_stream));
    EXPECT_NO_THROW(log_softmax<float>(no_cols, no_cols, no_stream));
    EXPECT_NO_THROW(host::softmax<float>(no_cols, no_cols));
}

class softmax_unsupported : public gpu_test {};

TEST_F(softmax_unsupported, vectorized_needs_rows_side_by_side) {
    guarded<float> x(4, 6, 13, 0, 2), y(4, 6, 6);
    EXPECT_THROW(
        softmax<float>(x.matrix(), y.matrix(), no_stream, {.algorithm = softmax_algorithm::vectorized}),
        unsupported);
    EXPECT_TRUE(y.untouched());
}

}  // namespace
}  // namespace heddle::test
