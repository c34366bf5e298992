#include "tests/conv/shapes.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class Types>
using conv_correctness = conv_device<Types>;
TYPED_TEST_SUITE(conv_correctness, every_conv_type, conv_type_names);

/// Data that another call has left in the workspace do not change the result. Nothing beyond the workspace changes.
template <class Types>
class conv_workspace : public conv_device<Types> {
  protected:
    using Out = Types::Out;
    using In = Types::In;

    /// Where the rung takes the shape, it must use scratch memory for it. Without, it runs in another way, or refuses.
    void check_memory(const conv_shape& s, conv_options options, const conv_terms& terms,
                      const conv_gaps& gaps = {}) {
        constexpr std::size_t tickets = 4096;
        SCOPED_TRACE(text(s));
        conv_operands<Out, In> p(s, gaps);
        options.geometry = s.geometry;
        const conv_problem problem = p.problem(options, terms);
        const device_traits& device = traits_of(current_device());
        if (!why_not(options.algorithm, problem, device, options.kernel).empty()) return;
        const auto call = [&] {
            p.prepare_output(0);
            conv<Out, In>(p.input.tensor(), p.filters.filters(), p.output.tensor(), p.epilogue(terms),
                          *this->stream, options);
        };
        const std::int64_t bytes = conv_workspace_bytes(problem, device, options.algorithm, options.kernel);
        ASSERT_GT(bytes, 0);
        guarded_workspace memory(bytes), too_small(bytes - 16);
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
        conv_problem without = problem;
        without.has_scratch = false;
        if (why_not(options.algorithm, without, device, options.kernel).empty()) {
            call();
            this->stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options, terms));
        } else {
            EXPECT_THROW(call(), unsupported);
            EXPECT_TRUE(p.output.untouched());
        }
        has_run = true;
    }

    bool has_run = false;
};
TYPED_TEST_SUITE(conv_workspace, every_conv_type, conv_type_names);

/// Workers share few tiles of deep sums: one tile and several; some workers have parts of two; after a round of whole
/// tiles; odd channels, which are copied first; ends of rows and columns of tiles; several groups.
TYPED_TEST(conv_workspace, has_sums_of_shared_tiles) {
    const conv_geometry padded{.padding = around(1)};
    for (const conv_shape& s : {conv_shape{1, 7, 7, 512, 96, 3, 3, padded},
                                {1, 5, 5, 1024, 64, 1, 3, {.padding = {0, 0, 1, 1}}},
                                {3, 9, 7, 264, 130, 3, 3, padded},
                                {1, 8, 8, 131, 40, 5, 5, {.padding = around(2)}},
                                {34, 16, 16, 256, 64, 3, 3, padded},
                                {1, 9, 8, 512, 128, 3, 3, {.padding = around(1), .groups = 2}}})
        for (const conv_terms& terms : {conv_terms{}, all_terms})
            ASSERT_NO_FATAL_FAILURE(this->check_memory(s,
                                                       {.algorithm = conv_algorithm::persistent,
                                                        .precision = precision::tf32,
                                                        .kernel = "persistent 64x64"},
                                                       terms));
    EXPECT_EQ(this->has_run, has_warpgroups());
}

/// One tap and many; padding, steps and gaps between taps; odd channels, and operands at odd addresses, which are
/// copied; one output; several images.
TYPED_TEST(conv_workspace, has_shares_of_kn2row) {
    const conv_gaps apart{.input = {.pixel = 3, .offset = 1},
                          .filters = {.pixel = 1, .offset = 3},
                          .output = {.row = 2, .offset = 1}};
    for (const conv_shape& s :
         {conv_shape{2, 9, 8, 64, 1, 3, 3, {.padding = around(1)}},
          {3, 23, 21, 67, 5, 3, 2, {.stride = {1, 2}, .padding = {1, 0, 2, 3}, .dilation = {2, 1}}},
          {1, 31, 30, 128, 20, 5, 5, {.stride = {2, 3}}},
          {2, 4, 3, 200, 33, 3, 3, {.padding = around(3), .dilation = {3, 2}}},
          {2, 12, 13, 33, 40, 1, 1, {.stride = {2, 3}}}})
        for (const conv_gaps& gaps : {conv_gaps{}, apart})
            for (const conv_terms& terms : {conv_terms{}, all_terms})
                for (const precision each : {precision::fp32, precision::tf32})
                    ASSERT_NO_FATAL_FAILURE(
                        this->check_memory(s, {.precision = each, .kernel = "kn2row"}, terms, gaps));
    EXPECT_TRUE(this->has_run);
}

/// Odd channels of the input, and so of the filters; pixels or taps apart, at odd addresses, or both; windows that are
/// pixels; several groups, whose channels are even. Copies have several blocks.
TYPED_TEST(conv_workspace, has_copies_of_pixels_and_taps) {
    const conv_gaps apart{.input = {.pixel = 3, .row = 1, .image = 5, .offset = 1},
                          .filters = {.pixel = 1, .image = 2, .offset = 3},
                          .output = {.offset = 1}};
    const conv_gaps apart_input{.input = {.pixel = 1, .row = 2}}, apart_filters{.filters = {.offset = 1}};
    const conv_geometry padded{.padding = around(1)};
    const struct {
        conv_shape shape;
        conv_gaps gaps{};
    } cases[] = {{{2, 23, 21, 5, 33, 3, 3, padded}},
                 {{2, 23, 21, 67, 131, 3, 3, {.padding = around(2), .dilation = {2, 2}}}},
                 {{1, 31, 30, 67, 131, 1, 1}},
                 {{1, 31, 30, 67, 131, 1, 1}, apart},
                 {{3, 9, 8, 109, 65, 3, 2, {.stride = {2, 1}, .padding = {1, 0, 2, 1}}}, apart},
                 {{2, 30, 29, 3, 16, 7, 7, {.stride = {2, 2}, .padding = around(3)}}},
                 {{1, 9, 8, 1, 24, 3, 3, padded}, apart},
                 {{2, 12, 13, 33, 129, 1, 1, {.stride = {2, 3}}}, apart},
                 {{2, 30, 9, 35, 40, 1, 2, {.stride = {9, 2}, .padding = {0, 0, 1, 0}}}},
                 {{2, 9, 8, 64, 64, 3, 3, padded}, apart_input},
                 {{2, 9, 8, 64, 64, 3, 3, padded}, apart_filters},
                 {{1, 7, 6, 128, 128, 3, 3, {.padding = around(1), .groups = 2}}, apart_input}};
    using enum conv_algorithm;
    for (const conv_algorithm rung : {wgmma, persistent})
        for (const std::string_view kernel : kernels_to_ask(rung, conv_kernels(rung)))
            for (const auto& [shape, gaps] : cases)
                for (const conv_terms& terms : {conv_terms{}, all_terms}) {
                    SCOPED_TRACE(text_of(rung, kernel));
                    ASSERT_NO_FATAL_FAILURE(this->check_memory(
                        shape, {.algorithm = rung, .precision = precision::tf32, .kernel = kernel}, terms,
                        gaps));
                }
    EXPECT_EQ(this->has_run, has_warpgroups());
}

using conv_im2col = conv_device<conv_types<half, half>>;

/// The images are laid out in parts that fit the scratch memory, the last of fewer images; with and without sums.
TEST_F(conv_im2col, lays_out_many_images_in_parts) {
    const conv_shape s{4000, 16, 16, 32, 2, 3, 3, {.padding = around(1), .groups = 2}};
    operands p(s);
    for (const conv_terms& terms : {conv_terms{}, all_terms}) {
        const conv_options options{.geometry = s.geometry, .algorithm = conv_algorithm::im2col};
        const std::int64_t bytes =
            conv_workspace_bytes(p.problem(options, terms), traits_of(current_device()), options.algorithm);
        EXPECT_LE(bytes, 4096 + (256 << 20));
        EXPECT_LT(bytes, s.count * 16 * 16 * 144 * std::int64_t{sizeof(half)});
        p.prepare_output(0);
        conv<half>(p.input.tensor(), p.filters.filters(), p.output.tensor(), p.epilogue(terms), *stream,
                   options);
        stream->synchronize();
        ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options, terms));
        p.expect_intact();
    }
}

/// The shares of all images do not fit the scratch memory at once. Those of padding follow those of each part.
TEST_F(conv_im2col, has_shares_of_many_images_in_parts) {
    const conv_shape s{1500, 16, 15, 33, 20, 3, 3, {.padding = around(1)}};
    operands p(s);
    const conv_options options{.geometry = s.geometry, .kernel = "kn2row"};
    const std::int64_t bytes =
        conv_workspace_bytes(p.problem(options, all_terms), traits_of(current_device()), options.algorithm);
    EXPECT_LT(bytes, s.count * 16 * 15 * 180 * std::int64_t{sizeof(float)});
    p.prepare_output(0);
    conv<half>(p.input.tensor(), p.filters.filters(), p.output.tensor(), p.epilogue(all_terms), *stream,
               options);
    stream->synchronize();
    ASSERT_NO_FATAL_FAILURE(p.expect_close(p.expected(options), options, all_terms));
    p.expect_intact();
}

TYPED_TEST(conv_correctness, gives_the_same_bits_in_a_graph) {
    using Out = TypeParam::Out;
    using In = TypeParam::In;
    conv_operands<Out, In> p({2, 20, 19, 24, 40, 3, 3, {.padding = around(1)}});
    const conv_reference expected = p.expected({.geometry = p.s.geometry});
    for (const precision each : precisions<In>())
        for_every_conv_plan({.geometry = p.s.geometry, .precision = each}, [&](const conv_options& options) {
            if (!why_not(options.algorithm, p.problem(options), traits_of(current_device()), options.kernel)
                     .empty())
                return;
            const auto call = [&] {
                conv<Out, In>(p.input.tensor(), p.filters.filters(), p.output.tensor(), *this->stream,
                              options);
            };
            call();
            const auto first = p.output.download();
            ASSERT_NO_FATAL_FAILURE(p.expect_close(expected, options));
            p.prepare_output(0);
            const graph captured = graph::capture(*this->stream, call);
            for (int i = 0; i < 3; ++i) captured.launch(*this->stream);
            this->stream->synchronize();
            const auto again = p.output.download();
            ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(Out)), 0);
        });
}

}  // namespace
}  // namespace heddle::test
