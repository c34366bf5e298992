#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(norm_arguments, are_checked_before_anything_is_enqueued) {
    using host_memory = guarded<float>;
    host_memory x{4, 6, 6, 0, 1, host_memory::memory::host}, y{4, 6, 6, 0, 1, host_memory::memory::host};
    host_memory gamma(6, 0, host_memory::memory::host);
    using vector = vector_view<const float>;
    const matrix_view<float> in = x.matrix(), out = y.matrix();
    const vector factors = gamma.vector();
    const auto message = [&](matrix_view<float> vx, const vector& g, const vector& b, matrix_view<float> vy,
                             norm_options options = {}) {
        const auto text = invalid_argument_of([&] { layer_norm<float>(vx, g, b, vy, no_stream, options); });
        EXPECT_TRUE(x.untouched() && y.untouched() && gamma.untouched());
        return text;
    };
    EXPECT_EQ(message({x.data(), 3, 6}, {}, {}, out), "layer_norm: x.rows is 3, expected 4 (y.rows)");
    EXPECT_EQ(message(in, {gamma.data(), 5}, {}, out),
              "layer_norm: gamma.size is 5, expected 0 or 6 (y.cols)");
    EXPECT_EQ(message(in, factors, {gamma.data(), 7}, out),
              "layer_norm: beta.size is 7, expected 0 or 6 (y.cols)");
    EXPECT_EQ(message(in, {nullptr, 6}, {}, out),
              "layer_norm: gamma.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(in, {gamma.data(), 6, 0}, {}, out),
              "layer_norm: gamma.stride is 0, expected one or more");
    EXPECT_EQ(message(in, {}, {y.data(), 6}, out),
              "layer_norm: y is a view that overlaps a parameter, expected memory apart from beta");
    EXPECT_EQ(message({y.data() + 1, 3, 6}, {}, {}, {y.data(), 3, 6}),
              "layer_norm: y is a view that overlaps an input in part, expected exactly x or apart from it");
    EXPECT_EQ(message(in, {}, {}, out, {.epsilon = -1}),
              "layer_norm: options.epsilon is -1, expected zero or more");
    EXPECT_EQ(message(in, {}, {}, out, {.epsilon = std::numeric_limits<float>::quiet_NaN()}),
              "layer_norm: options.epsilon is nan, expected zero or more");
    EXPECT_EQ(message(in, {}, {}, out, {.algorithm = static_cast<norm_algorithm>(99)}),
              "layer_norm: options.algorithm is 99, expected an enumerator of norm_algorithm");
    expect_error("rms_norm: gamma.size is 5, expected 0 or 6 (y.cols)", [&] {
        rms_norm<float>(in, {gamma.data(), 5}, out, no_stream);
    });
    expect_error("host::rms_norm: gamma.size is 5, expected 0 or 6 (y.cols)", [&] {
        host::rms_norm<float>(in, {gamma.data(), 5}, out);
    });
    EXPECT_TRUE(x.untouched() && y.untouched());
}

TEST(norm_arguments, may_be_empty) {
    const matrix_view<float> no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(layer_norm<float>(no_rows, {}, {}, no_rows, no_stream));
    EXPECT_NO_THROW(rms_norm<float>(no_cols, {}, no_cols, no_stream));
    EXPECT_NO_THROW(host::layer_norm<float>(no_cols, {}, {}, no_cols));
}

class norm_unsupported : public gpu_test {};

TEST_F(norm_unsupported, vectorized_needs_everything_side_by_side) {
    guarded<float> x(4, 6, 13, 0, 2), y(4, 6, 6), gamma(1, 6, 0, 0, 2);
    const norm_options vectorized{.algorithm = norm_algorithm::vectorized};
    EXPECT_THROW(rms_norm<float>(x.matrix(), {}, y.matrix(), no_stream, vectorized), unsupported);
    guarded<float> dense(4, 6, 6);
    EXPECT_THROW(rms_norm<float>(dense.matrix(), gamma.vector(), y.matrix(), no_stream, vectorized),
                 unsupported);
    EXPECT_TRUE(y.untouched());
}

}  // namespace
}  // namespace heddle::test
