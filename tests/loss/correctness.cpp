#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class T>
class loss_rows : public gpu_test {};
TYPED_TEST_SUITE(loss_rows, row_types, type_names);

TYPED_TEST(loss_rows, give_the_same_bits_in_a_graph) {
    const heddle::stream stream;
    for (const auto& [rows, cols] :
         {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}, {3, 262145}, {2, 524296}}) {
        guarded<TypeParam> x(rows, cols, cols), y[2]{{rows, cols, cols}, {rows, cols, cols}};
        guarded<std::int32_t> label(rows);
        guarded<float> loss[2]{guarded<float>(rows), guarded<float>(rows)};
        x.upload(random_elements<TypeParam>(std::int64_t{rows} * cols, -4, 4));
        label.upload(random_elements<std::int32_t>(rows, 0, cols - 1));
        const auto run = [&](int i) {
            cross_entropy<TypeParam>(x.matrix(), label.vector(), loss[i].vector(), y[i].matrix(), stream);
        };
        expect_same_bits_in_a_graph(stream, run, y, loss);
    }
}

TYPED_TEST(loss_rows, of_equal_infinities_are_shares) {
    const heddle::stream stream;
    const TypeParam low = -infinity<TypeParam>(), high = infinity<TypeParam>();
    const std::vector<TypeParam> xs = {low,  low, low,  low,          high, TypeParam(1),
                                       high, low, high, TypeParam(1), high, low};
    for (const loss_algorithm algorithm : loss_algorithms()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> x(3, 4, 4), y(3, 4, 4);
        guarded<std::int32_t> label(3);
        guarded<float> loss(3);
        x.upload(xs);
        label.upload({1, 2, 3});
        cross_entropy<TypeParam>(x.matrix(), label.vector(), loss.vector(), y.matrix(), stream,
                                 {.algorithm = algorithm});
        stream.synchronize();
        const auto losses = loss.download();
        EXPECT_NEAR(losses[0], std::log(4.0), 1e-6);
        EXPECT_NEAR(losses[1], std::log(2.0), 1e-6);
        EXPECT_EQ(losses[2], infinity<float>());
        const std::vector<double> expected = {.25, -.75, .25, .25, .5, 0, -.5, 0, .5, 0, .5, -1};
        const auto result = y.download();
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(to_double(result[i]), expected[i]) << i;
    }
}

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

}  // namespace
}  // namespace heddle::test
