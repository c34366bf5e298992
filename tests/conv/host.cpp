#include "tests/conv/operands.hpp"
#include "tests/conv/shapes.hpp"
#include <heddle/host.hpp>

#include <limits>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::conv_shape;

template <class Types>
class host_conv : public testing::Test {
  protected:
    using operands = test::conv_operands<typename Types::Out, typename Types::In>;

    void check(operands& p, conv_options options = {}, const test::conv_terms& terms = {}) {
        SCOPED_TRACE(text(p.s));
        options.geometry = p.s.geometry;
        p.prepare_output(options.beta);
        host::conv<typename Types::Out, typename Types::In>(p.input.tensor(), p.filters.filters(),
                                                            p.output.tensor(), p.epilogue(terms), options);
        ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options, terms));
        p.expect_intact();
    }
    void check(const conv_shape& s, const conv_options& options = {}, const test::conv_gaps& gaps = {},
               const test::conv_terms& terms = {}) {
        operands p(s, gaps, true);
        check(p, options, terms);
    }
};
TYPED_TEST_SUITE(host_conv, test::every_conv_type, test::conv_type_names);

TYPED_TEST(host_conv, is_right_for_every_shape) {
    for (const auto& shapes : {test::conv_shapes(), test::grouped_shapes(), test::depthwise_shapes(),
                               test::small_group_shapes(), test::edge_shapes()})
        for (const conv_shape& s : shapes)
            ASSERT_NO_FATAL_FAILURE(
                this->check(s, {.alpha = 1.5f, .beta = -0.5f}, {{1, 2, 3, 1}, {0, 1}, {3, 0, 1}}));
}

TYPED_TEST(host_conv, is_right_for_drawn_geometries) {
    test::drawing draw;
    for (int i = 0; i < 60; ++i) {
        const conv_shape s = test::draw_conv_shape(draw);
        const test::conv_gaps gaps{test::draw_gaps(draw), test::draw_gaps(draw), test::draw_gaps(draw)};
        SCOPED_TRACE("draw " + std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(this->check(s, {}, gaps));
    }
}

TYPED_TEST(host_conv, applies_an_epilogue) {
    for (const matmul_activation activation : test::activations)
        for (const bool before : {false, true}) {
            SCOPED_TRACE("activation " + std::to_string(static_cast<int>(activation)));
            ASSERT_NO_FATAL_FAILURE(this->check({2, 7, 5, 4, 22, 3, 3}, {.alpha = 0.5f, .beta = 0.5f},
                                                {.residual = {1, 1, 1, 1}},
                                                {activation, true, true, true, before}));
        }
}

TYPED_TEST(host_conv, has_the_infinities_and_nans_of_the_formula) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
    using In = TypeParam::In;
    typename TestFixture::operands p({2, 6, 7, 5, 9, 3, 3, {.padding = test::around(1)}}, {}, true);
    p.xs[7] = In(not_a_number);
    p.xs.back() = In(infinity);
    p.ws[3] = In(infinity);
    p.upload();
    ASSERT_NO_FATAL_FAILURE(this->check(p));
    ASSERT_NO_FATAL_FAILURE(this->check(p, {.alpha = 0}));
    for (const float alpha : {1.0f, infinity, not_a_number})
        ASSERT_NO_FATAL_FAILURE(this->check({2, 4, 5, 0, 6, 3, 3}, {.alpha = alpha}, {}, test::all_terms));
}

TYPED_TEST(host_conv, does_nothing_where_there_is_nothing) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    const std::vector<In> filters(135);
    const tensor_view<const In> none{nullptr, 0, 4, 4, 3};
    EXPECT_NO_THROW(
        (host::conv<Out, In>(none, {filters.data(), 5, 3, 3, 3}, tensor_view<Out>{nullptr, 0, 2, 2, 5})));
    EXPECT_NO_THROW(
        (host::conv<Out, In>(none, {nullptr, 0, 3, 3, 3}, tensor_view<Out>{nullptr, 0, 2, 2, 0})));
}

}  // namespace
}  // namespace heddle
