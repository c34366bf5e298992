#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(norm_arguments, have_an_epsilon_of_zero_or_more) {
    const std::vector<float> x(24);
    std::vector<float> y(24);
    for (const auto& [epsilon, text] : {std::pair{-1.0f, "-1"}, {NAN, "nan"}})
        expect_error(std::string("layer_norm: options.epsilon is ") + text + ", expected zero or more", [&] {
            layer_norm<float>({x.data(), 4, 6}, {}, {}, {y.data(), 4, 6}, no_stream, {.epsilon = epsilon});
        });
    EXPECT_EQ(y, x);
}

class norm_unsupported : public gpu_test {};

TEST_F(norm_unsupported, vectorized_needs_parameters_side_by_side) {
    guarded<float> x(4, 6, 6), y(4, 6, 6), gamma(1, 6, 0, 0, 2);
    EXPECT_THROW(rms_norm<float>(x.matrix(), gamma.vector(), y.matrix(), no_stream,
                                 {.algorithm = norm_algorithm::vectorized}),
                 unsupported);
    EXPECT_TRUE(y.untouched());
}

}  // namespace
}  // namespace heddle::test
