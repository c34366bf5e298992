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

}  // namespace
}  // namespace heddle::test
