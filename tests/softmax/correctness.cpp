#include "tests/support/headers.hpp"
#include "tests/support/row_operations.hpp"

namespace heddle::test {
namespace {

template <class T>
class softmax_rows : public gpu_test {};
TYPED_TEST_SUITE(softmax_rows, row_types, type_names);

/// Fuzz draws all other cases. This is for programs without it, such as that of tests/add_a_kernel.py.
TYPED_TEST(softmax_rows, are_right_by_every_rung) {
    const heddle::stream stream;
    for (const auto& [rows, cols] : {std::pair{70, 5}, {37, 257}, {3, 9001}})
        for (const softmax_algorithm algorithm : softmax_algorithms()) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", " << to_string(algorithm));
            guarded<TypeParam> x(rows, cols, cols), y(rows, cols, cols + 1);
            if (!takes(algorithm, x.matrix(), y.matrix())) continue;
            const auto xs = random_elements<TypeParam>(std::int64_t{rows} * cols, -10, 10);
            x.upload(xs);
            softmax<TypeParam>(x.matrix(), y.matrix(), stream, {.algorithm = algorithm});
            stream.synchronize();
            const expected_softmax expected(xs, cols, softmax_steps_of(algorithm, cols));
            ASSERT_TRUE(are_within(y.download(), expected.softmax, expected.bounds));
            ASSERT_TRUE(y.canaries_alive());
        }
}

using algorithm = softmax_gradient_algorithm;
using reference = bounds::expected_softmax_gradient;

template <class T>
class softmax_gradients : public gpu_test {};
TYPED_TEST_SUITE(softmax_gradients, row_types, type_names);

/// The reference of all gradients is the derivative of the reference of softmax.
TEST(softmax_gradient_reference, agrees_with_finite_differences) {
    constexpr std::int64_t rows = 2, cols = 9;
    constexpr double step = 1e-5;
    auto x = random_elements<double>(rows * cols, -2, 2);
    const auto dy = random_elements<double>(rows * cols);
    const expected_softmax y(x, cols, softmax_steps_on_host);
    const reference of_softmax(y.softmax, dy, cols, 1), of_log(y.log_softmax, dy, cols, 1);
    const auto losses = [&] {
        const expected_softmax at(x, cols, softmax_steps_on_host);
        std::pair<double, double> sums{0, 0};
        for (std::size_t i = 0; i < dy.size(); ++i) {
            sums.first += dy[i] * at.softmax[i];
            sums.second += dy[i] * at.log_softmax[i];
        }
        return sums;
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = x[i];
        x[i] = at + step;
        const auto above = losses();
        x[i] = at - step;
        const auto below = losses();
        x[i] = at;
        EXPECT_NEAR((above.first - below.first) / (2 * step), of_softmax.softmax[i], 1e-7);
        EXPECT_NEAR((above.second - below.second) / (2 * step), of_log.log_softmax[i], 1e-7);
    }
}

}  // namespace
}  // namespace heddle::test
