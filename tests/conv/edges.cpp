#include "tests/conv/device.hpp"

#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

// Geometries at their limits, addresses, scaling alone, numbers that are none.
namespace heddle {
namespace {

using test::conv_shape;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class Types>
using conv_edges = test::conv_device<Types>;
TYPED_TEST_SUITE(conv_edges, test::every_conv_type, test::conv_type_names);

TYPED_TEST(conv_edges, takes_every_geometry) {
    for (const precision each : test::precisions<typename TypeParam::In>())
        for (const conv_shape& s : test::edge_shapes())
            ASSERT_NO_FATAL_FAILURE(this->check(s, {.precision = each}));
}

TYPED_TEST(conv_edges, takes_every_address_and_stride) {
    for (const std::int64_t channels : {5, 8, 32})
        for (const test::tensor_gaps& gaps : {test::tensor_gaps{.offset = 1},
                                              {.pixel = 1},
                                              {.row = 1},
                                              {.image = 1},
                                              {8, 8, 8, 8},
                                              {1, 2, 3, 4}}) {
            const conv_shape s{2, 6, 7, channels, channels + 3, 3, 3, {.padding = test::around(1)}};
            for (const precision each : test::precisions<typename TypeParam::In>()) {
                const conv_options plain{.precision = each}, adds{.beta = 1, .precision = each};
                ASSERT_NO_FATAL_FAILURE(this->check(s, plain, {.input = gaps}));
                ASSERT_NO_FATAL_FAILURE(this->check(s, plain, {.filters = gaps}));
                ASSERT_NO_FATAL_FAILURE(this->check(s, adds, {.output = gaps}));
                ASSERT_NO_FATAL_FAILURE(this->check(s, plain, {.residual = gaps}, test::all_terms));
                ASSERT_NO_FATAL_FAILURE(this->check(s, plain, {gaps, gaps, gaps, gaps}, test::all_terms));
            }
        }
}

TYPED_TEST(conv_edges, takes_any_stride_of_one_row_or_column) {
    for (const precision each : test::precisions<typename TypeParam::In>()) {
        const conv_options plain{.precision = each};
        ASSERT_NO_FATAL_FAILURE(
            this->check({1, 1, 7, 8, 8, 3, 3, {.padding = test::around(1)}}, plain, {.input = {.row = 1}}));
        ASSERT_NO_FATAL_FAILURE(
            this->check({1, 1, 1, 8, 8, 3, 3, {.padding = test::around(1)}}, plain, {.input = {.pixel = 1}}));
        ASSERT_NO_FATAL_FAILURE(this->check({1, 5, 6, 8, 1, 1, 1}, plain, {.filters = {1, 2, 3}}));
    }
}

TYPED_TEST(conv_edges, without_channels_are_the_epilogue_of_zero) {
    for (const float alpha : {1.0f, infinity, not_a_number})
        for (const float beta : {0.0f, 0.5f}) {
            const conv_shape s{2, 4, 5, 0, 6, 3, 3, {.padding = test::around(1)}};
            for (const precision each : test::precisions<typename TypeParam::In>()) {
                const conv_options options{.alpha = alpha, .beta = beta, .precision = each};
                ASSERT_NO_FATAL_FAILURE(this->check(s, options));
                ASSERT_NO_FATAL_FAILURE(this->check(s, options, {}, test::all_terms));
            }
        }
}

TYPED_TEST(conv_edges, do_not_read_input_and_filters_where_alpha_is_zero) {
    for (const float beta : {0.0f, 0.5f}) {
        typename TestFixture::operands p({2, 6, 5, 9, 8, 3, 3});
        p.xs.assign(p.xs.size(), typename TypeParam::In(not_a_number));
        p.ws.assign(p.ws.size(), typename TypeParam::In(infinity));
        p.upload();
        for (const precision each : test::precisions<typename TypeParam::In>())
            ASSERT_NO_FATAL_FAILURE(this->check(p, {.alpha = 0, .beta = beta, .precision = each}));
    }
}

TYPED_TEST(conv_edges, do_nothing_where_there_is_nothing) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    test::guarded_tensor<In> filters(5, 3, 3, 3);
    const tensor_view<const In> none{nullptr, 0, 4, 4, 3};
    test::for_every_conv_plan({}, [&](const conv_options& options) {
        conv<Out, In>(none, filters.filters(), tensor_view<Out>{nullptr, 0, 2, 2, 5}, *this->stream, options);
        conv<Out, In>(none, {nullptr, 0, 3, 3, 3}, tensor_view<Out>{nullptr, 0, 2, 2, 0}, *this->stream,
                      options);
    });
    test::synchronize(*this->stream, "nothing");
}

// A NaN and infinities reach the outputs whose windows they lie in, and no others. What fills a tile up never meets them.
TYPED_TEST(conv_edges, keep_infinities_and_nans_where_they_belong) {
    const conv_geometry plain{.stride = {2, 1}, .padding = test::around(1)};
    conv_geometry of_groups = plain;
    of_groups.groups = 3;
    conv_geometry of_quads = plain;
    of_quads.groups = 9;
    for (const test::conv_shape& s : {test::conv_shape{2, 9, 8, 21, 66, 3, 3, plain},
                                      {2, 9, 8, 21, 66, 3, 3, of_groups},
                                      {2, 9, 8, 36, 36, 3, 3, of_quads},
                                      {2, 9, 8, 72, 66, 3, 3, plain},
                                      {2, 9, 8, 72, 64, 1, 1},
                                      {2, 9, 20, 3, 8, 3, 3, plain},
                                      {1, 9, 20, 5, 40, 2, 3, plain}}) {
        typename TestFixture::operands p(s);
        p.xs[5] = typename TypeParam::In(not_a_number);
        p.xs[p.xs.size() / 2] = typename TypeParam::In(infinity);
        p.xs.back() = typename TypeParam::In(-infinity);
        p.upload();
        for (const precision each : test::precisions<typename TypeParam::In>()) {
            ASSERT_NO_FATAL_FAILURE(this->check(p, {.precision = each}));
            ASSERT_NO_FATAL_FAILURE(this->check(p, {.precision = each}, {matmul_activation::relu, true}));
        }
    }
}

TYPED_TEST(conv_edges, multiply_padding_as_zeros) {
    for (const std::int64_t channels : {7, 8}) {
        typename TestFixture::operands p({1, 5, 6, channels, 9, 3, 3, {.padding = test::around(1)}});
        p.ws[0] = typename TypeParam::In(infinity);
        p.ws[200] = typename TypeParam::In(not_a_number);
        p.upload();
        for (const precision each : test::precisions<typename TypeParam::In>())
            ASSERT_NO_FATAL_FAILURE(this->check(p, {.precision = each}));
    }
}

TYPED_TEST(conv_edges, take_the_output_as_residual) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    for (const conv_shape& s :
         {conv_shape{2, 6, 7, 5, 67, 3, 3}, {2, 6, 7, 16, 68, 3, 3}, {2, 6, 7, 16, 64, 1, 1}}) {
        test::conv_operands<Out, In> p(s);
        const conv_options plain{.geometry = p.s.geometry};
        const test::conv_reference expected = p.expected(plain);
        const auto run = [&](const conv_options& options) {
            p.output.upload(p.residuals);
            conv_epilogue<Out> epilogue;
            epilogue.residual = p.output.tensor();
            if (!why_not(options.algorithm, p.problem(options, {.residual = true}),
                         traits_of(current_device()), options.variant)
                     .empty())
                return;
            conv<Out, In>(p.input.tensor(), p.filters.filters(), p.output.tensor(), epilogue, *this->stream,
                          options);
            test::synchronize(*this->stream, "a residual");
            ASSERT_NO_FATAL_FAILURE(p.expect_close(expected, options, {.residual = true}));
            p.expect_intact();
        };
        for (const precision each : test::precisions<In>())
            test::for_every_conv_plan({.geometry = s.geometry, .precision = each}, run);
    }
}

// Input and output are channels of the same pixels, as where each layer appends to what there is.
TYPED_TEST(conv_edges, take_channels_of_one_tensor) {
    using Out = TypeParam::Out;
    if constexpr (std::is_same_v<Out, typename TypeParam::In>) {
        const conv_geometry padded{.padding = test::around(1)};
        for (const conv_shape& s : {conv_shape{2, 6, 7, 5, 4, 3, 3, padded},
                                    {2, 6, 7, 16, 16, 3, 3, padded},
                                    {2, 6, 7, 16, 16, 1, 1}}) {
            test::conv_operands<Out, Out> p(s);
            test::guarded_tensor<Out> both(s.count, s.height, s.width, s.channels + s.outputs);
            std::vector<Out> pixels;
            for (std::size_t i = 0; i < p.xs.size(); i += static_cast<std::size_t>(s.channels)) {
                pixels.insert(pixels.end(), p.xs.begin() + static_cast<std::ptrdiff_t>(i),
                              p.xs.begin() + static_cast<std::ptrdiff_t>(i) + s.channels);
                pixels.insert(pixels.end(), static_cast<std::size_t>(s.outputs), Out(not_a_number));
            }
            const tensor_view<Out> all = both.tensor();
            tensor_view<Out> in = all, out = all;
            in.channels = s.channels;
            out.channels = s.outputs;
            out.data += s.channels;
            const auto run = [&](const conv_options& options) {
                p.prepare_output(0);
                both.upload(pixels);
                const conv_problem problem = conv_problem_of<Out>(in, p.filters.filters(), out, options);
                const device_traits& device = traits_of(current_device());
                if (!why_not(options.algorithm, problem, device, options.variant).empty()) return;
                conv<Out>(in, p.filters.filters(), out, *this->stream, options);
                test::synchronize(*this->stream, "channels");
                const std::vector<Out> after = both.download();
                std::vector<Out> outputs;
                for (std::size_t i = 0; i < after.size(); ++i)
                    if (static_cast<std::int64_t>(i) % all.channels >= s.channels)
                        outputs.push_back(after[i]);
                    else
                        ASSERT_EQ(test::to_double(after[i]), test::to_double(pixels[i]));
                p.output.upload(outputs);
                ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options));
            };
            for (const precision each : test::precisions<Out>())
                test::for_every_conv_plan({.geometry = s.geometry, .precision = each}, run);
        }
    }
}

}  // namespace
}  // namespace heddle
