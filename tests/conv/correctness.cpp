#include "tests/conv/device.hpp"
#include "tests/support/guarded_workspace.hpp"
#include <heddle/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace heddle {
namespace {

using test::conv_shape;

template <class Types>
using conv_correctness = test::conv_device<Types>;
TYPED_TEST_SUITE(conv_correctness, test::every_conv_type, test::conv_type_names);

TYPED_TEST(conv_correctness, takes_every_shape) {
    for (const conv_shape& s : test::conv_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
}

TYPED_TEST(conv_correctness, takes_groups) {
    for (const conv_shape& s : test::grouped_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
}

TYPED_TEST(conv_correctness, takes_tiles_of_windows) {
    const auto allowed = test::precisions<typename TypeParam::In>();
    for (const precision each : allowed)
        for (const conv_shape& s : test::window_shapes())
            ASSERT_NO_FATAL_FAILURE(this->check(s, {.precision = each}));
    const conv_shape s{3, 9, 8, 24, 136, 3, 3, {.padding = {0, 1, 2, 1}}};
    for (const precision each : allowed)
        for (const matmul_activation activation : test::activations)
            for (const bool before : {false, true})
                for (const float beta : {0.0f, 0.5f})
                    ASSERT_NO_FATAL_FAILURE(this->check(s, {.alpha = 0.5f, .beta = beta, .precision = each},
                                                        {}, {activation, true, true, true, before}));
    // Pixels and taps at multiples of 16 bytes, with gaps between them; an output and a residual at any address.
    constexpr std::int64_t packet = 16 / sizeof(typename TypeParam::In);
    const test::tensor_gaps whole{packet, 2 * packet, packet, 3 * packet};
    for (const test::tensor_gaps& out :
         {test::tensor_gaps{}, {.offset = 1}, {.pixel = 1}, {.pixel = 8, .offset = 3}})
        for (const float beta : {0.0f, 1.0f})
            for (const precision each : allowed)
                ASSERT_NO_FATAL_FAILURE(this->check(s, {.beta = beta, .precision = each},
                                                    {.input = whole,
                                                     .filters = {.pixel = packet, .image = packet},
                                                     .output = out,
                                                     .residual = out},
                                                    test::all_terms));
}

TYPED_TEST(conv_correctness, takes_tiles_of_copies) {
    for (const conv_shape& s : test::copied_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
    // Pixels that are rows of a matrix, with gaps and without, and such that are none.
    const conv_shape s{2, 5, 6, 16, 24, 1, 1, {.groups = 2}};
    for (const test::tensor_gaps& gaps : {test::tensor_gaps{}, {.pixel = 8}, {.offset = 1}, {.row = 4}})
        for (const bool adds : {false, true})
            ASSERT_NO_FATAL_FAILURE(this->check(s, {.beta = adds ? 0.5f : 0}, {.input = gaps, .output = gaps},
                                                adds ? test::all_terms : test::conv_terms{}));
}

TYPED_TEST(conv_correctness, takes_rounded_operands) {
    if constexpr (std::is_same_v<typename TypeParam::In, float>) {
        const conv_options options{.precision = precision::tf32};
        for (const auto& shapes : {test::conv_shapes(), test::copied_shapes(), test::grouped_shapes(),
                                   test::float_window_shapes()})
            for (const conv_shape& s : shapes) ASSERT_NO_FATAL_FAILURE(this->check(s, options));
        test::drawing draw;
        for (int i = 0; i < 40; ++i) {
            SCOPED_TRACE("draw " + std::to_string(i));
            const conv_shape s = test::draw_conv_shape(draw);
            ASSERT_NO_FATAL_FAILURE(this->check(
                s, {.alpha = 0.5f, .beta = draw(0, 1) == 0 ? 0 : 0.75f, .precision = precision::tf32},
                {test::draw_gaps(draw), test::draw_gaps(draw), test::draw_gaps(draw)}, test::all_terms));
        }
        for (int i = 0; i < 40; ++i) {  // such as maps describe
            SCOPED_TRACE("draw " + std::to_string(i));
            conv_shape s = test::draw_conv_shape(draw);
            s.geometry.groups = 1;
            s.channels = 1;  // for s.depth() of one channel
            const std::int64_t most = 1'000'000 / (s.outputs_all() * s.depth()) / 4;
            s.channels = 4 * std::max<std::int64_t>(1, std::min(most, draw(1, 20)));
            const auto gaps = [&] {
                return test::tensor_gaps{4 * draw(0, 1), 4 * draw(0, 2), 4 * draw(0, 2), 4};
            };
            ASSERT_NO_FATAL_FAILURE(this->check(
                s, {.alpha = 0.5f, .beta = draw(0, 1) == 0 ? 0 : 0.75f, .precision = precision::tf32},
                {.input = gaps(), .filters = {.pixel = 4 * draw(0, 1), .image = 4 * draw(0, 1)}},
                {matmul_activation::relu, draw(0, 1) == 0, draw(0, 1) == 0, draw(0, 1) == 0,
                 draw(0, 1) == 0}));
        }
    }
}

TYPED_TEST(conv_correctness, takes_few_channels) {
    for (const conv_shape& s : test::few_channel_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
    const conv_shape s{2, 12, 21, 3, 72, 3, 3, {.stride = {2, 2}, .padding = test::around(1)}};
    for (const matmul_activation activation : test::activations)
        for (const bool has_residual : {false, true})
            ASSERT_NO_FATAL_FAILURE(
                this->check(s, {.alpha = 0.5f}, {}, {activation, true, true, has_residual, true}));
    for (const test::tensor_gaps& gaps : {test::tensor_gaps{.offset = 1}, {.row = 3}, {0, 1, 5, 3}})
        ASSERT_NO_FATAL_FAILURE(
            this->check(s, {.beta = 0.5f}, {.input = gaps, .filters = gaps, .output = gaps}));
}

/// Single channels and packets, rows of windows with nothing after them and with room, in several blocks; with and without sums.
/// What another call has left in the workspace does not get into the result.
TYPED_TEST(conv_correctness, takes_a_workspace) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    constexpr std::size_t tickets = 4096;
    for (const conv_shape& s : {conv_shape{2, 9, 8, 12, 20, 3, 3, {.padding = test::around(1), .groups = 2}},
                                {2, 23, 21, 5, 33, 3, 3, {.padding = test::around(1)}},
                                {2, 23, 21, 16, 40, 3, 3, {.stride = {1, 2}, .padding = test::around(1)}},
                                {1, 31, 30, 64, 72, 3, 3, {.dilation = {2, 1}, .groups = 2}}})
        for (const test::conv_terms& terms : {test::conv_terms{}, test::all_terms}) {
            SCOPED_TRACE(text(s));
            test::conv_operands<Out, In> p(s);
            conv_options options{.geometry = s.geometry, .algorithm = conv_algorithm::im2col};
            const auto call = [&] {
                p.prepare_output(0);
                conv<Out, In>(p.input.tensor(), p.filters.filters(), p.output.tensor(), p.epilogue(terms),
                              *this->stream, options);
            };
            const std::int64_t bytes = conv_workspace_bytes(p.problem(options, terms),
                                                            traits_of(current_device()), options.algorithm);
            ASSERT_GT(bytes, 0);
            test::guarded_workspace memory(bytes), too_small(bytes - 16);
            options.workspace = memory;
            const std::span<std::byte> left = options.workspace.subspan(tickets);
            check(cudaMemset(left.data(), 0xff, left.size()));  // a NaN, in all types
            check(cudaDeviceSynchronize());
            call();
            this->stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options, terms));
            p.expect_intact();
            ASSERT_TRUE(memory.is_intact());
            options.workspace = too_small;
            EXPECT_THROW(call(), invalid_argument);
            options.workspace = {};
            options.scratch = scratch::none;
            EXPECT_THROW(call(), unsupported);
            EXPECT_TRUE(p.output.untouched());
        }
}

TYPED_TEST(conv_correctness, takes_a_filter_for_each_channel) {
    for (const conv_shape& s : test::depthwise_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
    const conv_shape s{2, 7, 10, 20, 20, 3, 3, {.padding = test::around(1), .groups = 20}};
    for (const matmul_activation activation : test::activations)
        for (const bool before : {false, true})
            ASSERT_NO_FATAL_FAILURE(this->check(s, {.alpha = 0.5f, .beta = before ? 0.0f : 0.5f},
                                                {.residual = {1, 2, 3, 1}},
                                                {activation, true, true, true, before}));
    for (const test::tensor_gaps& gaps :
         {test::tensor_gaps{.offset = 1}, {.offset = 4}, {.pixel = 1}, {4, 0, 8, 2}}) {
        ASSERT_NO_FATAL_FAILURE(this->check(s, {}, {.input = gaps}));
        ASSERT_NO_FATAL_FAILURE(this->check(s, {.beta = 1}, {.output = gaps}));
        ASSERT_NO_FATAL_FAILURE(this->check(s, {}, {gaps, gaps, gaps, gaps}, test::all_terms));
    }
}

TYPED_TEST(conv_correctness, of_drawn_filters_for_each_channel) {
    constexpr int draws = 40;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const std::int64_t channels = draw(1, 2) == 1 ? 4 * draw(1, 40) : draw(1, 150);
        const auto taps = [&] { return 2 * draw(1, 2) + 1; };
        const std::int64_t height = taps(), width = draw(0, 3) == 0 ? taps() : height;
        const conv_shape s{draw(1, 3),
                           draw(height, 20),
                           draw(width, 40),
                           channels,
                           channels,
                           height,
                           width,
                           {.stride = {draw(1, 2), draw(1, 2)},
                            .padding = {draw(0, 3), draw(0, 3), draw(0, 3), draw(0, 3)},
                            .groups = channels}};
        const test::conv_gaps gaps{test::draw_gaps(draw), test::draw_gaps(draw), test::draw_gaps(draw)};
        SCOPED_TRACE("draw " + std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(this->check(s, {}, draw(0, 1) == 0 ? test::conv_gaps{} : gaps,
                                            {matmul_activation::relu, draw(0, 1) == 0}));
    }
}

TYPED_TEST(conv_correctness, takes_small_groups) {
    for (const conv_shape& s : test::small_group_shapes()) ASSERT_NO_FATAL_FAILURE(this->check(s));
    const conv_shape s{2, 9, 18, 36, 36, 3, 3, {.padding = test::around(1), .groups = 9}};
    for (const matmul_activation activation : test::activations)
        for (const bool before : {false, true})
            ASSERT_NO_FATAL_FAILURE(this->check(s, {.alpha = 0.5f, .beta = before ? 0.0f : 0.5f},
                                                {.residual = {1, 2, 3, 1}},
                                                {activation, true, true, true, before}));
    const conv_shape packets{2, 7, 10, 64, 64, 3, 3, {.padding = test::around(1), .groups = 16}};
    for (const test::tensor_gaps& gaps :
         {test::tensor_gaps{.offset = 1}, {.offset = 4}, {.pixel = 1}, {4, 0, 8, 2}, {8, 16, 8, 8}}) {
        ASSERT_NO_FATAL_FAILURE(this->check(packets, {}, {.input = gaps}));
        ASSERT_NO_FATAL_FAILURE(this->check(packets, {}, {.filters = gaps}));
        ASSERT_NO_FATAL_FAILURE(this->check(packets, {.beta = 1}, {.output = gaps}));
        ASSERT_NO_FATAL_FAILURE(this->check(packets, {}, {gaps, gaps, gaps, gaps}, test::all_terms));
    }
}

TYPED_TEST(conv_correctness, of_drawn_small_groups) {
    constexpr int draws = 40;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const std::int64_t groups = draw(2, 20);
        const std::int64_t of_group = draw(0, 1) == 0 ? 4 * draw(1, 4) : draw(1, 32);
        const std::int64_t outputs = draw(0, 1) == 0 ? of_group : draw(1, 32);
        const auto steps = [&] { return draw(0, 1) == 0 ? 1 : draw(1, 3); };
        conv_shape s{draw(1, 2), 0, 0, groups * of_group, groups * outputs, draw(1, 4), draw(1, 4)};
        s.geometry = {.stride = {steps(), steps()},
                      .padding = {draw(0, 2), draw(0, 2), draw(0, 2), draw(0, 2)},
                      .dilation = {steps(), steps()},
                      .groups = groups};
        s.height = (s.filter_height - 1) * s.geometry.dilation.y + 1 + draw(0, 10);
        s.width = (s.filter_width - 1) * s.geometry.dilation.x + 1 + draw(0, 20);
        const test::conv_gaps gaps{test::draw_gaps(draw), test::draw_gaps(draw), test::draw_gaps(draw)};
        SCOPED_TRACE("draw " + std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(this->check(s, {}, draw(0, 1) == 0 ? test::conv_gaps{} : gaps,
                                            {matmul_activation::relu, draw(0, 1) == 0}));
    }
}

TYPED_TEST(conv_correctness, scales_and_adds) {
    for (const float beta : {0.0f, -0.75f})
        ASSERT_NO_FATAL_FAILURE(this->check({2, 7, 6, 5, 9, 3, 3}, {.alpha = 1.5f, .beta = beta}));
}

TYPED_TEST(conv_correctness, applies_an_epilogue) {
    const conv_shape s{2, 9, 7, 6, 70, 3, 3, {.padding = test::around(1), .groups = 2}};
    for (const matmul_activation activation : test::activations)
        for (const bool before : {false, true})
            for (const float beta : {0.0f, 0.5f}) {
                SCOPED_TRACE("activation " + std::to_string(static_cast<int>(activation)));
                ASSERT_NO_FATAL_FAILURE(this->check(s, {.alpha = 0.5f, .beta = beta},
                                                    {.output = {1, 2, 3, 1}, .residual = {2, 0, 5, 3}},
                                                    {activation, true, true, true, before}));
            }
    for (const bool before : {false, true})
        for (int terms = 1; terms < 8; ++terms) {
            SCOPED_TRACE("terms " + std::to_string(terms));
            ASSERT_NO_FATAL_FAILURE(this->check(
                s, {}, {},
                {matmul_activation::relu, (terms & 1) != 0, (terms & 2) != 0, (terms & 4) != 0, before}));
        }
}

TYPED_TEST(conv_correctness, of_drawn_geometries_takes_every_plan) {
    constexpr int draws = 60;  // of each type
    test::drawing draw;
    for (int i = 0; i < draws; ++i) {
        const conv_shape s = test::draw_conv_shape(draw);
        const test::conv_gaps gaps{test::draw_gaps(draw), test::draw_gaps(draw), test::draw_gaps(draw),
                                   test::draw_gaps(draw)};
        const bool is_plain = draw(0, 1) == 0;
        SCOPED_TRACE("draw " + std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(
            this->check(s, {.alpha = is_plain ? 1 : 0.5f, .beta = draw(0, 1) == 0 ? 0 : 0.75f}, gaps,
                        is_plain ? test::conv_terms{}
                                 : test::conv_terms{matmul_activation::relu, true, draw(0, 1) == 0,
                                                    draw(0, 1) == 0, draw(0, 1) == 0}));
    }
}

TYPED_TEST(conv_correctness, gives_the_same_bits_in_a_graph) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    test::conv_operands<Out, In> p({2, 20, 19, 24, 40, 3, 3, {.padding = test::around(1)}});
    for (const precision each : test::precisions<In>())
        test::for_every_conv_plan(
            {.geometry = p.s.geometry, .precision = each}, [&](const conv_options& options) {
                if (!why_not(options.algorithm, p.problem(options), traits_of(current_device()),
                             options.variant)
                         .empty())
                    return;
                const auto call = [&] {
                    conv<Out, In>(p.input.tensor(), p.filters.filters(), p.output.tensor(), *this->stream,
                                  options);
                };
                call();
                const auto first = p.output.download();
                p.prepare_output(0);
                const graph captured = graph::capture(*this->stream, call);
                for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
                this->stream->synchronize();
                const auto again = p.output.download();
                ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(Out)), 0);
            });
}

}  // namespace
}  // namespace heddle
