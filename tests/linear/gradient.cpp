#include "tests/bounds/activations.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

using bounds::activated;

/// The activations whose derivatives follow from their results.
constexpr std::array activations_of_x = {matmul_activation::none, matmul_activation::relu,
                                         matmul_activation::sigmoid, matmul_activation::tanh};

/// The operands of a layer, in row-major order: x is batch x in, weights out x in, gradient batch x out. With an
/// activation, x holds possible results of relu or sigmoid.
template <class T>
struct layer_elements {
    std::int64_t batch, in, out;
    std::vector<T> x, weights, bias, gradient;

    layer_elements(std::int64_t samples, std::int64_t inputs, std::int64_t outputs,
                   matmul_activation activation_of_x = matmul_activation::none)
        : batch(samples),
          in(inputs),
          out(outputs),
          x(random_elements<T>(batch * in, activation_of_x == matmul_activation::sigmoid ? 0 : -1)),
          weights(random_elements<T>(out * in)),
          bias(random_elements<T>(out)),
          gradient(random_elements<T>(batch * out)) {
        if (activation_of_x == matmul_activation::relu)
            for (T& each : x) each = to_double(each) > 0 ? each : T(0.0f);
    }
};

using algorithm = linear_gradient_algorithm;

template <class T>
class linear_edges : public stream_fixture {
  protected:
    template <class Element>
    static bool are_same(guarded<Element>& a, guarded<Element>& b) {
        const auto of_a = a.download(), of_b = b.download();
        return std::memcmp(of_a.data(), of_b.data(), of_a.size() * sizeof(Element)) == 0;
    }

    static bool takes(algorithm each, const matrix_view<T>& x, const matrix_view<T>& weights,
                      const matrix_view<T>& gradient, const matrix_view<T>& dx) {
        const auto problem = linear_gradient_problem_of<T>(x, weights, gradient, dx,
                                                           {.activation_of_x = matmul_activation::relu});
        return why_not(each, problem, traits_of(current_device())).empty();
    }
};
TYPED_TEST_SUITE(linear_edges, row_types, type_names);

TYPED_TEST(linear_edges, of_relu_mask_any_sum_and_pass_on_a_nan_of_x) {
    constexpr std::int64_t batch = 130, in = 72, out = 16;
    const TypeParam high = infinity<TypeParam>(), nan = not_a_number<TypeParam>();
    guarded<TypeParam> x(batch, in, in), weights(out, in, in), gradient(batch, out, out);
    layer_elements<TypeParam> e(batch, in, out, matmul_activation::relu);
    // Row 0 of the gradient makes infinite sums, and row 1 makes NaN.
    for (std::int64_t i = 0; i < out; ++i) e.gradient[static_cast<std::size_t>(i)] = high;
    for (std::int64_t i = 0; i < out; ++i) e.gradient[static_cast<std::size_t>(out + i)] = nan;
    for (TypeParam& w : e.weights) w = static_cast<TypeParam>(std::abs(to_double(w)) + 0.5);
    e.x[2 * in] = nan;
    x.upload(e.x);
    weights.upload(e.weights);
    gradient.upload(e.gradient);
    for (const algorithm each : {algorithm::automatic, algorithm::separate, algorithm::fused}) {
        SCOPED_TRACE(to_string(each));
        guarded<TypeParam> dx(batch, in, in);
        if (!this->takes(each, x.matrix(), weights.matrix(), gradient.matrix(), dx.matrix())) continue;
        linear_gradient<TypeParam>(x.matrix(), weights.matrix(), gradient.matrix(), dx.matrix(), {}, {},
                                   *this->stream,
                                   {.algorithm = each, .activation_of_x = matmul_activation::relu});
        this->stream->synchronize();
        const auto result = dx.download();
        for (std::size_t i = 0; i < result.size(); ++i) {
            const double value = to_double(result[i]);
            if (i == 2 * in)
                ASSERT_TRUE(std::isnan(value));
            else if (!(to_double(e.x[i]) > 0))
                ASSERT_EQ(value, 0) << i;
            else if (i < in)
                ASSERT_EQ(value, to_double(high)) << i;
            else
                ASSERT_EQ(std::isnan(value), i < 2 * in) << i;
        }
    }
}

TYPED_TEST(linear_edges, of_one_result_have_the_bits_of_all) {
    for (const auto& [batch, in, out] : {std::tuple{64, 784, 128}, {33, 100, 10}, {512, 1024, 1024}}) {
        SCOPED_TRACE(testing::Message() << batch << " x " << in << " to " << out);
        constexpr auto activation = matmul_activation::sigmoid;
        const layer_elements<TypeParam> e(batch, in, out, activation);
        guarded<TypeParam> x(batch, in, in), weights(out, in, in), gradient(batch, out, out);
        x.upload(e.x);
        weights.upload(e.weights);
        gradient.upload(e.gradient);
        guarded<TypeParam> dx(batch, in, in), dx_alone(batch, in, in);
        guarded<float> dweights(out, in, in), dweights_alone(out, in, in), dbias(out), dbias_alone(out);
        const auto run = [&](matrix_view<TypeParam> to_x, matrix_view<float> to_w, vector_view<float> to_b) {
            linear_gradient<TypeParam>(x.matrix(), weights.matrix(), gradient.matrix(), to_x, to_w, to_b,
                                       *this->stream, {.activation_of_x = activation});
        };
        run(dx.matrix(), dweights.matrix(), dbias.vector());
        run(dx_alone.matrix(), {}, {});
        run({}, dweights_alone.matrix(), {});
        run({}, {}, dbias_alone.vector());
        this->stream->synchronize();
        EXPECT_TRUE(this->are_same(dx, dx_alone) && this->are_same(dweights, dweights_alone) &&
                    this->are_same(dbias, dbias_alone));
    }
}

template <class T>
class host_linear : public testing::Test {};
TYPED_TEST_SUITE(host_linear, row_types, type_names);

/// A sum beyond half's largest number stays a float until it has been multiplied by the derivative, which is 0.
TYPED_TEST(host_linear, multiplies_by_the_derivative_before_it_rounds) {
    using T = TypeParam;
    const T one{1.0f}, large{60000.0f};
    for (const matmul_activation activation : {matmul_activation::sigmoid, matmul_activation::tanh}) {
        const T ones[] = {one, one}, gradient[] = {large, large};
        T dx = one;
        host::linear_gradient<T>({ones, 1, 1}, {ones, 2, 1}, {gradient, 1, 2}, matrix_view<T>{&dx, 1, 1}, {},
                                 {}, {.activation_of_x = activation});
        EXPECT_EQ(to_double(dx), 0);
    }
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

// These are the differences of L = sum c_ij (f(z) weights^T + bias)_ij in double; `gradient` is exactly c. L is linear
// in weights and bias. No third derivative of f in z exceeds 2, and relu has none where no |z| is below the step.
TEST(host_linear_gradient, is_that_of_differences_in_double) {
    constexpr std::int64_t batch = 3, in = 5, out = 4;
    constexpr double step = 1e-4, u = unit_roundoff<float>();
    for (const matmul_activation activation : activations_of_x) {
        SCOPED_TRACE(static_cast<int>(activation));
        layer_elements<float> e(batch, in, out);
        std::vector<double> z(e.x.begin(), e.x.end());
        for (double& each : z) each += each < 0 ? -0.01 : 0.01;
        const std::vector<double> w(e.weights.begin(), e.weights.end()), b(e.bias.begin(), e.bias.end());
        for (std::size_t i = 0; i < z.size(); ++i) e.x[i] = static_cast<float>(activated(activation, z[i]));
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
                        y += activated(activation, of_z[i * in + k]) * of_w[j * in + k];
                    sum += static_cast<double>(e.gradient[i * out + j]) * y;
                }
            return sum;
        };
        // No element is larger than 1.01, so the error of a sum of n terms is at most n times that of one. Double's own
        // error, over the step, is some 2^10 2^-53 / step, a little more than 1e-9.
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
}  // namespace heddle::test
