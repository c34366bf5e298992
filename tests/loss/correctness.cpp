#include "tests/bounds/loss.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class T>
class loss_rows : public gpu_test {};
TYPED_TEST_SUITE(loss_rows, row_types, type_names);

/// A difference may exceed float's range while its share of the gradient does not.
TYPED_TEST(loss_rows, of_squares_of_large_numbers_have_finite_gradients) {
    const heddle::stream stream;
    const TypeParam large(std::is_same_v<TypeParam, half> ? 6e4f : 3e38f),
        opposite(-static_cast<float>(large));
    for (const std::int64_t cols : {8, 200, 5000})
        for (const loss_algorithm algorithm : loss_algorithms()) {
            SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", " << cols << " columns");
            const auto size = static_cast<std::size_t>(cols);
            guarded<TypeParam> x(1, cols, cols), t(1, cols, cols), y(1, cols, cols);
            guarded<float> loss(1);
            x.upload(std::vector<TypeParam>(size, large));
            t.upload(std::vector<TypeParam>(size, opposite));
            mean_squared_error<TypeParam>(x.matrix(), t.matrix(), loss.vector(), y.matrix(), stream,
                                          {.algorithm = algorithm});
            stream.synchronize();
            const double expected = 4 * to_double(large) / static_cast<double>(cols);
            const double bound = expected * (5 * unit_roundoff<float>() + unit_roundoff<TypeParam>());
            for (const TypeParam gradient : y.download()) ASSERT_NEAR(to_double(gradient), expected, bound);
        }
}

// The differences of the loss itself, in double, where its third derivative is below 1.
TEST(host_cross_entropy, has_the_gradient_of_its_loss) {
    constexpr std::int64_t cols = 7;
    constexpr double step = 1e-4, bound = step * step + 4 * 0x1p-24;
    for (const float smoothing : {0.0f, 0.3f, 1.0f}) {
        const auto xs = random_elements<float>(cols, -3, 3);
        const std::int32_t label = 4;
        std::vector<float> gradient(cols);
        float loss = 0;
        host::cross_entropy<float>({xs.data(), 1, cols}, {&label, 1}, {&loss, 1},
                                   matrix_view{gradient.data(), 1, cols}, {.label_smoothing = smoothing});
        const std::vector<double> at(xs.begin(), xs.end());
        const auto loss_at = [&](std::size_t j, double by) {
            auto moved = at;
            moved[j] += by;
            return bounds::expected_cross_entropy::loss_of(moved, label, static_cast<double>(smoothing));
        };
        EXPECT_NEAR(loss, loss_at(0, 0), 1e-6);
        for (std::size_t j = 0; j < at.size(); ++j)
            EXPECT_NEAR(gradient[j], (loss_at(j, step) - loss_at(j, -step)) / (2 * step), bound) << j;
    }
}

TEST(host_label_hits, are_where_the_label_is_the_argmax) {
    const float nan = not_a_number<float>();
    const std::vector<float> xs = {1, 3, 3, 1, 3, 3, 1, nan, nan, 1, nan, 2, 0, 0, 0};
    const std::vector<std::int32_t> labels = {1, 2, 1, 2, 3};
    std::vector<std::int32_t> hits(5, 9);
    host::label_hits<float>({xs.data(), 5, 3}, {labels.data(), 5}, {hits.data(), 5});
    EXPECT_EQ(hits, (std::vector<std::int32_t>{1, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace heddle::test
