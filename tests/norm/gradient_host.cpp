#include "tests/support/headers.hpp"
#include "tests/support/norm.hpp"

namespace heddle::test {
namespace {

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
