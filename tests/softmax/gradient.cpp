#include "tests/support/headers.hpp"
#include "tests/support/softmax.hpp"

namespace heddle::test {
namespace {

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
