#include "tests/support/guarded.hpp"
#include "tests/support/linear.hpp"
#include <heddle/host.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace heddle {
namespace {

using test::are_within;
using test::guarded;
using test::layer_elements;
using test::make_rows;
using test::row_layout;

const std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> shapes = {
    {1, 1, 1}, {5, 7, 3}, {64, 100, 10}, {33, 257, 65}, {4, 0, 3}, {0, 4, 3}, {3, 4, 0}};
const row_layout layouts[] = {{}, {.offset = 1, .padding = 3}, {.step = 2}, {.column_major = true}};

template <class T>
class host_linear : public testing::Test {
  protected:
    template <class Element = T>
    static guarded<Element> rows(std::int64_t count, std::int64_t cols, const row_layout& l) {
        return make_rows<Element>(count, cols, l, guarded<Element>::memory::host);
    }
};
TYPED_TEST_SUITE(host_linear, test::row_types, test::type_names);

TYPED_TEST(host_linear, is_the_formula) {
    using T = TypeParam;
    for (const auto& [batch, in, out] : shapes)
        for (const row_layout& l : layouts)
            for (const matmul_activation activation : test::activations)
                for (const bool has_bias : {true, false}) {
                    SCOPED_TRACE(testing::Message() << batch << " x " << in << " to " << out
                                                    << ", activation " << static_cast<int>(activation));
                    const layer_elements<T> e(batch, in, out);
                    auto x = this->rows(batch, in, l), w = this->rows(out, in, l),
                         bias = this->rows(1, out, {.step = 2}), y = this->rows(batch, out, l);
                    x.upload(e.x);
                    w.upload(e.weights);
                    bias.upload(e.bias);
                    host::linear<T>(x.matrix(), w.matrix(), has_bias ? bias.vector() : vector_view<T>{},
                                    y.matrix(), {.activation = activation});
                    const auto expected = test::expected_linear(e, has_bias, activation, test::fma_bound,
                                                                test::unit_roundoff<float>());
                    ASSERT_TRUE(are_within(y.download(), expected.value, expected.bound));
                    ASSERT_TRUE(y.canaries_alive() && x.untouched() && w.untouched() && bias.untouched());
                }
}

/// A sum beyond half's largest number is a float until the derivative, which is 0, has been multiplied with it.
TYPED_TEST(host_linear, multiplies_by_the_derivative_before_it_rounds) {
    using T = TypeParam;
    const T one{1.0f}, large{60000.0f};
    for (const matmul_activation activation : {matmul_activation::sigmoid, matmul_activation::tanh}) {
        auto x = this->rows(1, 1, {}), w = this->rows(2, 1, {}), gradient = this->rows(1, 2, {}),
             dx = this->rows(1, 1, {});
        x.upload(std::vector<T>{one});
        w.upload(std::vector<T>{one, one});
        gradient.upload(std::vector<T>{large, large});
        host::linear_gradient<T>(x.matrix(), w.matrix(), gradient.matrix(), dx.matrix(), {}, {},
                                 {.activation_of_x = activation});
        EXPECT_EQ(test::to_double(dx.download()[0]), 0);
    }
}

TYPED_TEST(host_linear, has_the_gradients_of_the_formula) {
    using T = TypeParam;
    for (const auto& [batch, in, out] : shapes)
        for (const row_layout& l : layouts)
            for (const matmul_activation activation : test::activations_of_x) {
                SCOPED_TRACE(testing::Message() << batch << " x " << in << " to " << out
                                                << ", activation of x " << static_cast<int>(activation));
                const layer_elements<T> e(batch, in, out, activation);
                auto x = this->rows(batch, in, l), w = this->rows(out, in, {}),
                     gradient = this->rows(batch, out, l), dx = this->rows(batch, in, l);
                auto dweights = this->template rows<float>(out, in, l),
                     dbias = this->template rows<float>(1, out, {.step = 2});
                x.upload(e.x);
                w.upload(e.weights);
                gradient.upload(e.gradient);
                host::linear_gradient<T>(x.matrix(), w.matrix(), gradient.matrix(), dx.matrix(),
                                         dweights.matrix(), dbias.vector(), {.activation_of_x = activation});
                const auto of_x = test::expected_dx(e, activation, test::fma_bound, false);
                const auto of_weights = test::expected_dweights(e, test::fma_bound);
                const auto of_bias = test::expected_dbias(e);
                ASSERT_TRUE(are_within(dx.download(), of_x.value, of_x.bound)) << "dx";
                ASSERT_TRUE(are_within(dweights.download(), of_weights.value, of_weights.bound))
                    << "dweights";
                ASSERT_TRUE(are_within(dbias.download(), of_bias.value, of_bias.bound)) << "dbias";
                ASSERT_TRUE(dx.canaries_alive() && dweights.canaries_alive() && dbias.canaries_alive());
                ASSERT_TRUE(x.untouched() && w.untouched() && gradient.untouched());
            }
}

TYPED_TEST(host_linear, computes_the_gradients_that_are_wanted) {
    using T = TypeParam;
    constexpr std::int64_t batch = 9, in = 6, out = 4;
    const layer_elements<T> e(batch, in, out);
    const matrix_view<const T> x{e.x.data(), batch, in}, w{e.weights.data(), out, in},
        gradient{e.gradient.data(), batch, out};
    std::vector<T> all_dx(batch * in);
    std::vector<float> all_dw(out * in), all_db(out);
    const matrix_view dx{all_dx.data(), batch, in};
    const matrix_view dw{all_dw.data(), out, in};
    const vector_view db{all_db.data(), out};
    host::linear_gradient<T>(x, w, gradient, dx, dw, db);
    const auto of_x = test::expected_dx(e, matmul_activation::none, test::fma_bound, false);
    ASSERT_TRUE(are_within(all_dx, of_x.value, of_x.bound));
    const auto dx_bits = all_dx;
    const auto dw_bits = all_dw, db_bits = all_db;
    const auto clear = [&] {
        std::ranges::fill(all_dx, T(7.0f));
        std::ranges::fill(all_dw, 7.0f);
        std::ranges::fill(all_db, 7.0f);
    };
    const auto are_same = [](const auto& some, const auto& others) {
        return std::ranges::equal(some, others,
                                  [](auto a, auto b) { return test::to_double(a) == test::to_double(b); });
    };
    clear();
    host::linear_gradient<T>(x, w, gradient, dx, {}, {});
    EXPECT_TRUE(are_same(all_dx, dx_bits) && all_dw == std::vector<float>(out * in, 7) && all_db[0] == 7);
    clear();
    host::linear_gradient<T>(x, w, gradient, {}, dw, {});
    EXPECT_TRUE(are_same(all_dw, dw_bits) && test::to_double(all_dx[0]) == 7 && all_db[0] == 7);
    clear();
    host::linear_gradient<T>(x, w, gradient, {}, {}, db);
    EXPECT_TRUE(are_same(all_db, db_bits) && test::to_double(all_dx[0]) == 7 && all_dw[0] == 7);
}

TEST(host_linear_gradient, of_relu_masks_any_sum_and_passes_on_a_nan_of_x) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x = {1, 0, nan, 2}, gradient = {infinity, infinity, 1, nan};
    const float weight = 1;
    std::vector<float> dx(4);
    host::linear_gradient<float>({x.data(), 4, 1}, {&weight, 1, 1}, {gradient.data(), 4, 1},
                                 matrix_view{dx.data(), 4, 1}, {}, {},
                                 {.activation_of_x = matmul_activation::relu});
    EXPECT_EQ(dx[0], infinity);
    EXPECT_EQ(dx[1], 0);
    EXPECT_TRUE(std::isnan(dx[2]) && std::isnan(dx[3]));
}

// L = sum c_ij (f(z) weights^T + bias)_ij in double, of which `gradient` c is exact, has these differences. L is linear in
// weights and bias; in z no third derivative of f is larger than 2, and relu has none where no |z| is below the step.
TEST(host_linear_gradient, is_that_of_differences_in_double) {
    constexpr std::int64_t batch = 3, in = 5, out = 4;
    constexpr double step = 1e-4, u = test::unit_roundoff<float>();
    for (const matmul_activation activation : test::activations_of_x) {
        SCOPED_TRACE(static_cast<int>(activation));
        layer_elements<float> e(batch, in, out);
        std::vector<double> z(e.x.begin(), e.x.end());
        for (double& each : z) each += each < 0 ? -0.01 : 0.01;
        const std::vector<double> w(e.weights.begin(), e.weights.end()), b(e.bias.begin(), e.bias.end());
        for (std::size_t i = 0; i < z.size(); ++i)
            e.x[i] = static_cast<float>(test::activated(activation, z[i]));
        std::vector<float> dz(batch * in), dw(out * in), db(out);
        host::linear_gradient<float>({e.x.data(), batch, in}, {e.weights.data(), out, in},
                                     {e.gradient.data(), batch, out}, matrix_view{dz.data(), batch, in},
                                     {dw.data(), out, in}, {db.data(), out}, {.activation_of_x = activation});
        const auto loss = [&](const auto& of_z, const auto& of_w, const auto& of_b) {
            double sum = 0;
            for (std::size_t i = 0; i < batch; ++i)
                for (std::size_t j = 0; j < out; ++j) {
                    double y = of_b[j];
                    for (std::size_t k = 0; k < in; ++k)
                        y += test::activated(activation, of_z[i * in + k]) * of_w[j * in + k];
                    sum += static_cast<double>(e.gradient[i * out + j]) * y;
                }
            return sum;
        };
        // No element is larger than 1.01: terms of a sum of n are within n of those of 1. Double's own error, over the step, is
        // some 2^10 2^-53 / step, a little more than 1e-9.
        const auto expect_near = [&](const std::vector<float>& actual, auto loss_of, std::int64_t terms) {
            const double n = static_cast<double>(terms);
            const double bound = n * (step * step / 3 + (n + 10) * u) + 1e-8;
            for (std::size_t i = 0; i < actual.size(); ++i)
                EXPECT_NEAR(actual[i], (loss_of(i, step) - loss_of(i, -step)) / (2 * step), bound) << i;
        };
        const auto moved = [](std::vector<double> v, std::size_t i, double by) {
            v[i] += by;
            return v;
        };
        expect_near(
            dz, [&](std::size_t i, double by) { return loss(moved(z, i, by), w, b); }, out);
        expect_near(
            dw, [&](std::size_t i, double by) { return loss(z, moved(w, i, by), b); }, batch);
        expect_near(
            db, [&](std::size_t i, double by) { return loss(z, w, moved(b, i, by)); }, batch);
    }
}

}  // namespace
}  // namespace heddle
