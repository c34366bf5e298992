#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class loss_arguments : public testing::Test {
  protected:
    const std::vector<float> x_ = std::vector<float>(24);
    const std::vector<std::int32_t> labels_ = std::vector<std::int32_t>(4);
    std::vector<float> loss_ = std::vector<float>(4), gradient_ = x_;
    const matrix_view<const float> x{x_.data(), 4, 6};
    const vector_view<const std::int32_t> labels{labels_.data(), 4};

    void TearDown() override { EXPECT_TRUE(gradient_ == x_ && loss_ == std::vector<float>(4)); }
};

TEST_F(loss_arguments, have_options_that_are_numbers) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto message = [&](const cross_entropy_options& options) {
        return invalid_argument_of([&] {
            cross_entropy<float>(x, labels, {loss_.data(), 4}, {gradient_.data(), 4, 6}, no_stream, options);
        });
    };
    EXPECT_EQ(message({.scale = infinity}), "cross_entropy: options.scale is inf, expected a finite number");
    EXPECT_EQ(message({.label_smoothing = 1.5f}),
              "cross_entropy: options.label_smoothing is 1.5, expected 0 to 1");
    EXPECT_EQ(message({.label_smoothing = NAN}),
              "cross_entropy: options.label_smoothing is nan, expected 0 to 1");
    expect_error("mean_squared_error: options.scale is nan, expected a finite number", [&] {
        mean_squared_error<float>(x, x, {loss_.data(), 4}, {gradient_.data(), 4, 6}, no_stream,
                                  {.scale = NAN});
    });
}

TEST_F(loss_arguments, may_lack_outputs) {
    EXPECT_NO_THROW(cross_entropy<float>(x, labels, {}, {}, no_stream));
}

}  // namespace
}  // namespace heddle::test
