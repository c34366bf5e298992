#include "tests/linear/linear_layers.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle {
namespace {

using test::draw_row_layout;
using test::layer_elements;
using test::layer_layouts;
using algorithm = linear_gradient_algorithm;

template <class T>
using linear_layers = test::linear_layers<T>;
TYPED_TEST_SUITE(linear_layers, test::row_types, test::type_names);

struct layer_shape {
    std::int64_t batch, in, out;
};

testing::Message text(const layer_shape& s) {
    return testing::Message() << s.batch << " x " << s.in << " to " << s.out;
}

/// Off by one around the borders of tiles and packets; the layers of small networks; each tile of matmul's fused.
const std::vector<layer_shape> shapes = {
    {1, 1, 1},      {2, 3, 5},        {1, 784, 10},     {64, 784, 128},   {63, 785, 129}, {256, 128, 10},
    {255, 127, 9},  {1000, 10, 7},    {128, 128, 64},   {129, 136, 72},   {127, 120, 56}, {257, 264, 136},
    {4096, 64, 64}, {2048, 128, 256}, {300, 2048, 128}, {1024, 1024, 64}, {8, 512, 2048}};

TYPED_TEST(linear_layers, take_every_shape) {
    for (const layer_shape& s : shapes) {
        SCOPED_TRACE(text(s));
        const layer_elements<TypeParam> e(s.batch, s.in, s.out);
        for (const bool has_bias : {true, false})
            ASSERT_NO_FATAL_FAILURE(
                this->check_linear(e, {}, has_bias, {.activation = matmul_activation::relu}));
    }
}

TYPED_TEST(linear_layers, have_every_activation) {
    for (const matmul_activation activation : test::activations)
        for (const layer_shape& s : {layer_shape{65, 100, 33}, {128, 256, 512}}) {
            SCOPED_TRACE(text(s) << ", activation " << static_cast<int>(activation));
            const layer_elements<TypeParam> e(s.batch, s.in, s.out);
            ASSERT_NO_FATAL_FAILURE(this->check_linear(e, {}, true, {.activation = activation}));
            ASSERT_NO_FATAL_FAILURE(
                this->check_linear(e, {.has_workspace = true}, false, {.activation = activation}));
        }
}

TYPED_TEST(linear_layers, of_float_are_as_exact_as_is_asked_for) {
    for (const precision as : {precision::ieee, precision::fp32, precision::tf32}) {
        SCOPED_TRACE(to_string(as));
        const auto activation = matmul_activation::tanh;
        const layer_elements<TypeParam> e(200, 1024, 136, activation);
        ASSERT_NO_FATAL_FAILURE(this->check_linear(e, {}, true, {.activation = activation, .precision = as}));
        ASSERT_NO_FATAL_FAILURE(
            this->check_gradient(e, {}, {.activation_of_x = activation, .precision = as}));
    }
}

TYPED_TEST(linear_layers, have_gradients_of_every_shape) {
    for (const layer_shape& s : shapes)
        for (const matmul_activation activation : test::activations_of_x) {
            SCOPED_TRACE(text(s));
            const layer_elements<TypeParam> e(s.batch, s.in, s.out, activation);
            for (const algorithm each : test::every_linear_gradient_algorithm()) {
                auto l = test::in_packets_of(e);
                l.wants_dweights = l.wants_dbias = each == algorithm::automatic;  // dx alone depends on it
                ASSERT_NO_FATAL_FAILURE(
                    this->check_gradient(e, l, {.algorithm = each, .activation_of_x = activation}));
            }
        }
}

TYPED_TEST(linear_layers, of_drawn_problems_are_right) {
    constexpr int draws = 40;  // of each type
    test::drawing draw;
    const auto extent = [&] { return draw(1, std::int64_t{1} << draw(0, 9)); };
    for (int i = 0; i < draws; ++i) {
        const layer_shape s{extent(), extent(), extent()};
        SCOPED_TRACE(testing::Message() << "draw " << i << ": " << text(s));
        const layer_layouts l{.x = draw_row_layout(draw),
                              .weights = draw_row_layout(draw),
                              .gradient = draw_row_layout(draw),
                              .y = draw_row_layout(draw),
                              .dweights = draw_row_layout(draw),
                              .bias_step = draw(0, 3) == 0 ? 2 : 1,
                              .wants_dx = draw(0, 4) != 0,
                              .wants_dweights = draw(0, 4) != 0,
                              .wants_dbias = draw(0, 4) != 0,
                              .has_workspace = draw(0, 1) == 0};
        const auto activation =
            test::activations[static_cast<std::size_t>(draw(0, std::ssize(test::activations) - 1))];
        const auto activation_of_x =
            test::activations_of_x[static_cast<std::size_t>(draw(0, std::ssize(test::activations_of_x) - 1))];
        const scratch from = draw(0, 3) == 0 && !l.has_workspace ? scratch::none : scratch::pool;
        const layer_elements<TypeParam> e(s.batch, s.in, s.out, activation_of_x);
        ASSERT_NO_FATAL_FAILURE(
            this->check_linear(e, l, draw(0, 1) == 0, {.activation = activation, .scratch = from}));
        ASSERT_NO_FATAL_FAILURE(
            this->check_gradient(e, l, {.activation_of_x = activation_of_x, .scratch = from}));
    }
}

/// matmul's fused reads `gradient` and `weights` by tensor maps, whichever way they lie; x may lie anyhow.
TYPED_TEST(linear_layers, fuse_a_derivative_of_any_layout) {
    constexpr std::int64_t batch = 264, in = 200, out = 136;
    for (const matmul_activation activation : {matmul_activation::relu, matmul_activation::sigmoid})
        for (int bits = 0; bits < 8; ++bits)
            for (const test::row_layout& of_x :
                 {test::row_layout{}, {.offset = 1, .padding = 3}, {.column_major = true}, {.step = 2}}) {
                SCOPED_TRACE(testing::Message() << "transposed " << bits);
                const layer_elements<TypeParam> e(batch, in, out, activation);
                ASSERT_NO_FATAL_FAILURE(
                    this->check_gradient(e,
                                         {.x = of_x,
                                          .weights = {.column_major = (bits & 1) != 0},
                                          .gradient = {.column_major = (bits & 2) != 0},
                                          .y = {.column_major = (bits & 4) != 0},
                                          .wants_dweights = false,
                                          .wants_dbias = false},
                                         {.algorithm = algorithm::fused, .activation_of_x = activation}));
            }
}

}  // namespace
}  // namespace heddle
