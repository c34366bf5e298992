#include "tests/support/headers.hpp"
#include "tests/support/softmax.hpp"

namespace heddle::test {
namespace {

using algorithm = softmax_gradient_algorithm;
using reference = bounds::expected_softmax_gradient;

template <class T>
class softmax_gradients : public gpu_test {};
TYPED_TEST_SUITE(softmax_gradients, row_types, type_names);

TYPED_TEST(softmax_gradients, give_the_same_bits_in_a_graph) {
    const heddle::stream stream;
    for (const auto& [rows, cols] : {std::pair{1000, 100}, {50, 5000}, {20, 50000}, {3, 200000}}) {
        const auto ys = random_elements<TypeParam>(std::int64_t{rows} * cols),
                   dys = random_elements<TypeParam>(std::int64_t{rows} * cols);
        guarded<TypeParam> y(rows, cols, cols), dy(rows, cols, cols),
            dx[2]{{rows, cols, cols}, {rows, cols, cols}};
        y.upload(ys);
        dy.upload(dys);
        const auto run = [&](int i) {
            softmax_gradient<TypeParam>(y.matrix(), dy.matrix(), dx[i].matrix(), stream);
        };
        expect_same_bits_in_a_graph(stream, run, dx);
    }
}

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
