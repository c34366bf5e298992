#include "tests/conv/shapes.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class Types>
using conv_correctness = conv_device<Types>;
TYPED_TEST_SUITE(conv_correctness, every_conv_type, conv_type_names);

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
