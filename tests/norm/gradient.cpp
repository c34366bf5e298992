#include "tests/support/headers.hpp"
#include "tests/support/row_operations.hpp"

namespace heddle::test {
namespace {

using algorithm = norm_gradient_algorithm;
using operation = norm_operation;
using reference = bounds::expected_norm_gradient;

template <class T>
class norm_gradients : public gpu_test {};
TYPED_TEST_SUITE(norm_gradients, row_types, type_names);

/// The squares of such elements overflow. The last warps of a cluster have no columns, and their distance from the
/// mean must not count. The deviations d are roundings of means, so z may be anything. But the sums of warps, of
/// squares about their own means and about the row's, hold at least d^2 / 2 each, so |z| <= sqrt(2). Sigma is at
/// least sqrt(epsilon), and the terms of dx are at most |g|, mean |g| and |z| times |z| mean |g|.
TYPED_TEST(norm_gradients, of_equal_elements_without_squares_are_bounded) {
    const heddle::stream stream;
    const auto element = static_cast<TypeParam>(std::is_same_v<TypeParam, half> ? 60000.0f : 1e20f);
    constexpr std::int64_t rows = 2;
    constexpr float epsilon = 1e-5f;
    for (const std::int64_t cols : {8193, 16385}) {
        SCOPED_TRACE(testing::Message() << cols << " columns");
        const auto dys = random_elements<TypeParam>(rows * cols);
        const std::vector<TypeParam> xs(dys.size(), element);
        guarded<TypeParam> x(rows, cols, cols), dy(rows, cols, cols), dx(rows, cols, cols);
        guarded<TypeParam> dgamma(cols), dbeta(cols);
        x.upload(xs);
        dy.upload(dys);
        layer_norm_gradient<TypeParam>(x.matrix(), {}, dy.matrix(), dx.matrix(), dgamma.vector(),
                                       dbeta.vector(), stream, {.epsilon = epsilon});
        stream.synchronize();

        std::vector<double> of_dx, of_dgamma(static_cast<std::size_t>(cols));
        for (std::int64_t row = 0; row < rows; ++row) {
            double mean = 0;  // of |g|
            const auto at = [&](std::int64_t col) {
                return std::abs(to_double(dys[static_cast<std::size_t>(row * cols + col)]));
            };
            for (std::int64_t col = 0; col < cols; ++col) mean += at(col) / static_cast<double>(cols);
            for (std::int64_t col = 0; col < cols; ++col) {
                of_dx.push_back(1.01 * (at(col) + 3 * mean) / std::sqrt(epsilon));
                of_dgamma[static_cast<std::size_t>(col)] += 1.01 * std::sqrt(2.0) * at(col);
            }
        }
        ASSERT_TRUE(are_within(dx.download(), std::vector<double>(of_dx.size()), of_dx));
        ASSERT_TRUE(are_within(dgamma.download(), std::vector<double>(of_dgamma.size()), of_dgamma));
        const reference expected(operation::layer_norm, xs, std::vector<TypeParam>{}, dys, cols, epsilon,
                                 bounds::norm_gradient_depth(algorithm::automatic, cols));
        ASSERT_TRUE(are_within(dbeta.download(), expected.dbeta, expected.dbeta_bounds));
    }
}

using operation = norm_operation;
using reference = bounds::expected_norm_gradient;

/// The reference of all gradients is the derivative of the reference of the norms.
TEST(norm_gradient_reference, agrees_with_finite_differences) {
    constexpr std::int64_t rows = 3, cols = 7;
    constexpr float epsilon = 0.01f;
    constexpr double step = 1e-5;
    for (const operation op : {operation::layer_norm, operation::rms_norm}) {
        auto x = random_elements<double>(rows * cols, -1, 2), gamma = random_elements<double>(cols, -2, 2),
             beta = random_elements<double>(cols);
        const auto dy = random_elements<double>(rows * cols);
        const reference expected(op, x, gamma, dy, cols, epsilon, 1);
        const auto loss = [&] {
            const expected_norm y(op, x, gamma, op == operation::layer_norm ? beta : std::vector<double>{},
                                  cols, epsilon, 1);
            double sum = 0;
            for (std::size_t i = 0; i < dy.size(); ++i) sum += dy[i] * y.values[i];
            return sum;
        };
        const auto compare = [&](std::vector<double>& variables, const std::vector<double>& gradient) {
            for (std::size_t i = 0; i < variables.size(); ++i) {
                const double at = variables[i];
                variables[i] = at + step;
                const double above = loss();
                variables[i] = at - step;
                const double below = loss();
                variables[i] = at;
                EXPECT_NEAR((above - below) / (2 * step), gradient[i], 1e-6 * (1 + std::abs(gradient[i])));
            }
        };
        compare(x, expected.dx);
        compare(gamma, expected.dgamma);
        if (op == operation::layer_norm) compare(beta, expected.dbeta);
    }
}

/// Sums of many rows may be beyond half's numbers, which end at 65504.
TEST(are_within, takes_the_infinity_that_a_number_rounds_to) {
    const float inf = std::numeric_limits<float>::infinity();
    const auto takes = [](float actual, double expected) {
        return bool{are_within(std::vector{half(actual)}, {expected}, {80.0})};
    };
    EXPECT_TRUE(takes(-inf, -92056));
    EXPECT_TRUE(takes(inf, 65500));
    EXPECT_TRUE(takes(65504, 65500));
    for (const auto& [actual, expected] : {std::pair{inf, -92056.0},
                                           {-65504.0f, -92056.0},
                                           {inf, 65400.0},
                                           {std::nanf(""), 92056.0},
                                           {inf, std::nan("")}})
        EXPECT_FALSE(takes(actual, expected)) << actual << " for " << expected;
}

}  // namespace
}  // namespace heddle::test
