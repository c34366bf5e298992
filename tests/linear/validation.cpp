#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

/// A layer from 3 values to 2, for a batch of 4.
class linear_arguments : public testing::Test {
  protected:
    using floats = guarded<float>;
    static constexpr auto host = floats::memory::host;
    floats x_{4, 3, 3, 0, 1, host}, weights_{2, 3, 3, 0, 1, host}, bias_{2, 0, host}, y_{4, 2, 2, 0, 1, host};
    floats gradient_{4, 2, 2, 0, 1, host}, dx_{4, 3, 3, 0, 1, host}, dweights_{2, 3, 3, 0, 1, host},
        dbias_{2, 0, host};

    void TearDown() override {
        for (floats* each : {&x_, &weights_, &bias_, &y_, &gradient_, &dx_, &dweights_, &dbias_})
            EXPECT_TRUE(each->untouched());
    }
};

TEST_F(linear_arguments, are_checked_before_anything_is_enqueued) {
    const auto message = [](matrix_view<float> x, matrix_view<float> w, vector_view<float> bias,
                            matrix_view<float> y, const linear_options& options = {}) {
        return invalid_argument_of([&] { linear<float>(x, w, bias, y, no_stream, options); });
    };
    const matrix_view<float> x = x_.matrix(), w = weights_.matrix(), y = y_.matrix();
    const vector_view<float> bias = bias_.vector();
    EXPECT_EQ(message(x, w, bias, y, {.activation = static_cast<matmul_activation>(7)}),
              "linear: options.activation is 7, expected an enumerator of matmul_activation");
    EXPECT_EQ(message(x, w, bias, y, {.precision = static_cast<precision>(9)}),
              "linear: options.precision is 9, expected an enumerator of precision");
    EXPECT_EQ(message(x, w, bias, y, {.workspace = {static_cast<std::byte*>(nullptr), 64}}),
              "linear: options.workspace is null, expected a pointer to 64 bytes, or an empty span");
    expect_error("linear_workspace_bytes: bias.size is 1, expected 2 (weights.rows), or 0", [&] {
        (void)linear_workspace_bytes<float>(x, w, {bias.data, 1}, y, no_stream);
    });
}

class linear_gradient_arguments : public linear_arguments {
  protected:
    matrix_view<float> x = x_.matrix(), w = weights_.matrix(), g = gradient_.matrix(), dx = dx_.matrix(),
                       dw = dweights_.matrix();
    vector_view<float> db = dbias_.vector();

    static std::string message(matrix_view<float> x, matrix_view<float> w, matrix_view<float> g,
                               matrix_view<float> dx, matrix_view<float> dw, vector_view<float> db,
                               const linear_gradient_options& options = {}) {
        return invalid_argument_of([&] { linear_gradient<float>(x, w, g, dx, dw, db, no_stream, options); });
    }
};

TEST_F(linear_gradient_arguments, have_shapes_that_agree) {
    EXPECT_EQ(message(x, w, g, {dx.data, 0, 3}, dw, db),
              "linear_gradient: dx.rows is 0, expected 4 (x.rows)");
    expect_error("linear_gradient_problem_of: gradient.rows is 3, expected 4 (x.rows)", [&] {
        (void)linear_gradient_problem_of<float>(x, w, {g.data, 3, 2}, dx);
    });
    expect_error("linear_gradient_workspace_bytes: dbias.size is 1, expected 2 (weights.rows), or 0", [&] {
        (void)linear_gradient_workspace_bytes<float>(x, w, g, dx, dw, {db.data, 1}, no_stream);
    });
}

TEST_F(linear_gradient_arguments, have_options_that_are_known) {
    for (const auto activation :
         {matmul_activation::gelu, matmul_activation::gelu_tanh, matmul_activation::silu}) {
        EXPECT_EQ(message(x, w, g, dx, dw, db, {.activation_of_x = activation}),
                  "linear_gradient: options.activation_of_x is " +
                      std::to_string(static_cast<int>(activation)) +
                      ", expected none, relu, sigmoid or tanh: of others the derivative does not follow from "
                      "the result");
    }
    EXPECT_EQ(message(x, w, g, dx, dw, db, {.precision = static_cast<precision>(9)}),
              "linear_gradient: options.precision is 9, expected an enumerator of precision");
    EXPECT_EQ(message(x, w, g, dx, dw, db, {.scratch = static_cast<scratch>(9)}),
              "linear_gradient: options.scratch is 9, expected an enumerator of scratch");
    EXPECT_EQ(message(x, w, g, dx, dw, db, {.workspace = {static_cast<std::byte*>(nullptr), 64}}),
              "linear_gradient: options.workspace is null, expected a pointer to 64 bytes, or an empty span");
    expect_error(
        "host::linear_gradient: options.activation_of_x is 2, expected none, relu, sigmoid or tanh: of "
        "others the derivative does not follow from the result",
        [&] {
            host::linear_gradient<float>(x, w, g, dx, dw, db, {.activation_of_x = matmul_activation::gelu});
        });
}

TEST_F(linear_gradient_arguments, may_be_empty) {
    EXPECT_NO_THROW(linear_gradient<float>(x, w, g, {}, {}, {}, no_stream));
    EXPECT_NO_THROW(
        linear_gradient<float>({nullptr, 0, 3}, w, {nullptr, 0, 2}, {nullptr, 0, 3}, {}, {}, no_stream));
    EXPECT_NO_THROW(host::linear_gradient<float>(x, w, g, {}, {}, {}));
}

}  // namespace
}  // namespace heddle::test
