#include "tests/linear/elements.hpp"

namespace heddle::test {
namespace {

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

TYPED_TEST(linear_edges, give_the_same_bits_in_a_graph_and_alone) {
    for (const auto& [batch, in, out] : {std::tuple{64, 784, 128}, {33, 100, 10}, {512, 1024, 1024}})
        for (const bool has_workspace : {false, true}) {
            SCOPED_TRACE(testing::Message() << batch << " x " << in << " to " << out);
            constexpr auto activation = matmul_activation::sigmoid;
            const layer_elements<TypeParam> e(batch, in, out, activation);
            guarded<TypeParam> x(batch, in, in), weights(out, in, in), gradient(batch, out, out), bias(out);
            x.upload(e.x);
            weights.upload(e.weights);
            gradient.upload(e.gradient);
            bias.upload(e.bias);
            struct results {
                guarded<TypeParam> y, dx;
                guarded<float> dweights, dbias;
            };
            const auto make = [&] {
                return results{{batch, out, out}, {batch, in, in}, {out, in, in}, guarded<float>(out)};
            };
            results first = make(), second = make(), alone = make();
            const linear_gradient_options options{.activation_of_x = activation};
            workspace scratch(
                std::max(linear_workspace_bytes<TypeParam>(x.matrix(), weights.matrix(), bias.vector(),
                                                           first.y.matrix(), *this->stream),
                         linear_gradient_workspace_bytes<TypeParam>(
                             x.matrix(), weights.matrix(), gradient.matrix(), first.dx.matrix(),
                             first.dweights.matrix(), first.dbias.vector(), *this->stream, options)),
                *this->stream);
            const std::span<std::byte> given =
                has_workspace ? std::span<std::byte>(scratch) : std::span<std::byte>();
            const auto gradients = [&](matrix_view<TypeParam> dx, matrix_view<float> dweights,
                                       vector_view<float> dbias) {
                linear_gradient<TypeParam>(x.matrix(), weights.matrix(), gradient.matrix(), dx, dweights,
                                           dbias, *this->stream,
                                           {.activation_of_x = activation, .workspace = given});
            };
            const auto run = [&](results& r) {
                linear<TypeParam>(x.matrix(), weights.matrix(), bias.vector(), r.y.matrix(), *this->stream,
                                  {.activation = activation, .workspace = given});
                gradients(r.dx.matrix(), r.dweights.matrix(), r.dbias.vector());
            };
            run(first);
            const graph captured = graph::capture(*this->stream, [&] { run(second); });
            for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
            gradients(alone.dx.matrix(), {}, {});
            gradients({}, alone.dweights.matrix(), {});
            gradients({}, {}, alone.dbias.vector());
            this->stream->synchronize();
            EXPECT_TRUE(this->are_same(first.y, second.y));
            for (results* other : {&second, &alone})
                EXPECT_TRUE(this->are_same(first.dx, other->dx) &&
                            this->are_same(first.dweights, other->dweights) &&
                            this->are_same(first.dbias, other->dbias));
        }
}

}  // namespace
}  // namespace heddle::test
