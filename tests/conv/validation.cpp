#include "tests/support/headers.hpp"

// Arguments are checked before anything is enqueued, so no device is needed.
namespace heddle::test {
namespace {

class conv_arguments : public testing::Test {
  protected:
    using in_view = tensor_view<const float>;
    using by_view = filter_view<const float>;
    using out_view = tensor_view<float>;

    std::string message(const in_view& in, const by_view& by, const out_view& out,
                        const conv_options& options = {}, const conv_epilogue<float>& epilogue = {}) {
        const std::string text =
            invalid_argument_of([&] { conv<float>(in, by, out, epilogue, no_stream, options); });
        EXPECT_TRUE(std::ranges::all_of(memory_, [](float e) { return e == 0; }));
        return text;
    }
    std::string message(const conv_options& options) { return message(input, filters, output, options); }
    std::string message(const conv_epilogue<float>& epilogue) {
        return message(input, filters, output, {}, epilogue);
    }
    std::string message(const conv_geometry& geometry) { return message(conv_options{.geometry = geometry}); }

    void refuses(const std::string& text, const in_view& in, const by_view& by, const out_view& out,
                 const conv_options& options = {}) {
        EXPECT_EQ(message(in, by, out, options), "conv: " + text);
    }
    template <class Changed>
    void refuses(const std::string& text, const Changed& changed) {
        EXPECT_EQ(message(changed), "conv: " + text);
    }

    std::vector<float> memory_ = std::vector<float>(4000);
    float* const p = memory_.data();
    const in_view input{p, 2, 6, 5, 4};
    const by_view filters{p + 500, 8, 3, 2, 4};
    const out_view output{p + 1000, 2, 4, 4, 8};
};

TEST_F(conv_arguments, agree_in_their_shapes) {
    refuses("output.count is 2, expected 3 (input.count)", in_view{p, 3, 6, 5, 4}, filters, output);
    refuses("output.height is 4, expected 5 (conv_output_height())", in_view{p, 2, 7, 5, 4}, filters, output);
    refuses("output.width is 4, expected 5 (conv_output_width())", in_view{p, 2, 6, 6, 4}, filters, output);
    refuses("output.channels is 8, expected 7 (filters.outputs)", input, by_view{p + 500, 7, 3, 2, 4},
            output);
    refuses("filters.channels is 3, expected 4 (those of a group of the input)", input,
            by_view{p + 500, 8, 3, 2, 3}, output);
    refuses("input.count is -2, expected zero or more", in_view{p, -2, 6, 5, 4}, filters, output);
    refuses("filters.outputs is -8, expected zero or more", input, by_view{p + 500, -8, 3, 2, 4}, output);
    refuses("filters.height is 0, expected 1 to 2147483647", input, by_view{p + 500, 8, 0, 2, 4}, output);
    refuses("filters.height is 7, expected a filter that, dilated, fits the 6 of the padded input", input,
            by_view{p + 500, 8, 7, 2, 4}, output);
    refuses("filters.height is 3, expected a filter that, dilated, fits the 0 of the padded input",
            in_view{p, 2, 0, 5, 4}, filters, output);
}

TEST_F(conv_arguments, have_a_geometry) {
    refuses("options.geometry.stride.y is 0, expected 1 to 2147483647", conv_geometry{.stride = {0, 1}});
    refuses("options.geometry.stride.x is -1, expected 1 to 2147483647", conv_geometry{.stride = {1, -1}});
    refuses("options.geometry.padding.right is -1, expected 0 to 2147483647",
            conv_geometry{.padding = {.right = -1}});
    refuses("options.geometry.dilation.x is 0, expected 1 to 2147483647", conv_geometry{.dilation = {1, 0}});
    refuses("options.geometry.groups is 0, expected 1 to 2147483647", conv_geometry{.groups = 0});
    refuses("input.channels is 4, expected a multiple of 3 (options.geometry.groups)",
            conv_geometry{.groups = 3});
    refuses("filters.outputs is 7, expected a multiple of 2 (options.geometry.groups)", input,
            by_view{p + 500, 7, 3, 2, 2}, output, {.geometry = {.groups = 2}});
    refuses("filters.channels is 4, expected 2 (those of a group of the input)", conv_geometry{.groups = 2});
    refuses("filters.height is 3, expected a filter that, dilated, fits the 6 of the padded input",
            conv_geometry{.dilation = {3, 1}});
}

TEST_F(conv_arguments, lie_apart) {
    refuses("input.data is null, expected a pointer to its elements", in_view{nullptr, 2, 6, 5, 4}, filters,
            output);
    refuses("output.data is null, expected a pointer to its elements", input, filters,
            out_view{nullptr, 2, 4, 4, 8});
    refuses("input.col_stride is 3, expected at least 4: what lies within it", in_view{p, 2, 6, 5, 4, 3},
            filters, output);
    refuses("input.row_stride is 0, expected at least 20: what lies within it", in_view{p, 2, 6, 5, 4, 4, 0},
            filters, output);
    refuses("output.image_stride is 127, expected at least 128: what lies within it", input, filters,
            out_view{p + 1000, 2, 4, 4, 8, 8, 32, 127});
    refuses("filters.output_stride is 23, expected at least 24: what lies within it", input,
            by_view{p + 500, 8, 3, 2, 4, 4, 8, 23}, output);
    const std::int64_t huge = std::int64_t{1} << 62;
    refuses("input.count is 4611686018427387904, expected at most 288230376151711744",
            in_view{p, huge, 6, 5, 4}, filters, output);
    refuses("input.image_stride is 4611686018427387904, expected a stride whose bytes fit 63 bits",
            in_view{p, 2, 6, 5, 4, 4, 20, huge}, filters, output);
    refuses("output is a view that overlaps input, expected one apart from it", in_view{p + 950, 2, 6, 5, 4},
            filters, output);
    refuses("output is a view that overlaps filters, expected one apart from it", input,
            by_view{p + 1255, 8, 3, 2, 4}, output);
    const auto* misaligned = reinterpret_cast<const float*>(reinterpret_cast<const char*>(p) + 2);
    EXPECT_THROW(conv<float>(in_view{misaligned, 2, 6, 5, 4}, filters, output, no_stream), invalid_argument);
}

TEST_F(conv_arguments, of_an_epilogue_fit_the_output) {
    using vector = vector_view<const float>;
    refuses("epilogue.bias.size is 7, expected 8 (output.channels), or 0",
            conv_epilogue<float>{.bias = vector{p + 2000, 7}});
    refuses("epilogue.scale.size is 9, expected 8 (output.channels), or 0",
            conv_epilogue<float>{.scale = vector{p + 2000, 9}});
    refuses("epilogue.scale is a view that overlaps output, expected one apart from it",
            conv_epilogue<float>{.scale = vector{p + 1200, 8}});
    refuses("epilogue.residual.width is 5, expected 4 (output.width)",
            conv_epilogue<float>{.residual = {p + 2000, 2, 4, 5, 8}});
    refuses("epilogue.residual is a view that overlaps output, expected one apart from it",
            conv_epilogue<float>{.residual = {p + 1001, 2, 4, 4, 8}});
    refuses("epilogue.residual.data is null, expected a pointer to its elements",
            conv_epilogue<float>{.residual = {nullptr, 2, 4, 4, 8}});
    refuses("epilogue.activation is 7, expected an enumerator of matmul_activation",
            conv_epilogue<float>{.activation = static_cast<matmul_activation>(7)});
}

TEST_F(conv_arguments, have_known_options) {
    refuses("options.algorithm is 99, expected an enumerator of conv_algorithm",
            conv_options{.algorithm = static_cast<conv_algorithm>(99)});
    refuses("options.precision is 7, expected an enumerator of precision",
            conv_options{.precision = static_cast<precision>(7)});
    refuses("options.kernel is other, expected one of tiled",
            conv_options{.algorithm = conv_algorithm::tiled, .kernel = "other"});
    refuses("options.kernel is mma, expected one of grouped fma, grouped mma",
            conv_options{.algorithm = conv_algorithm::grouped, .kernel = "mma"});
    refuses("options.kernel is 128x256, expected one of " + joined(conv_kernels()),
            conv_options{.kernel = "128x256"});
    EXPECT_NE(message({.workspace = std::as_writable_bytes(std::span(p + 1000, 64))}), "");
    EXPECT_NE(message({.workspace = std::as_writable_bytes(std::span(p + 3001, 8)).subspan(2)}), "");
}

TEST_F(conv_arguments, are_checked_by_the_other_functions_too) {
    expect_error("host::conv: output.count is 2, expected 3 (input.count)", [&] {
        host::conv<float>(in_view{p, 3, 6, 5, 4}, filters, output);
    });
    expect_error("conv_problem_of: output.count is 2, expected 3 (input.count)", [&] {
        (void)conv_problem_of<float>(in_view{nullptr, 3, 6, 5, 4}, filters, output);
    });
}

std::set<const float*> addresses(const tensor_view<const float>& t) {
    std::set<const float*> all;
    for (std::int64_t n = 0; n < t.count; ++n)
        for (std::int64_t y = 0; y < t.height; ++y)
            for (std::int64_t x = 0; x < t.width; ++x)
                for (std::int64_t c = 0; c < t.channels; ++c)
                    all.insert(t.data + n * t.image_stride + y * t.row_stride + x * t.col_stride + c);
    return all;
}

// No overlap is missed, and channels, columns, rows and images of one tensor are not taken for overlaps.
TEST_F(conv_arguments, overlap_where_they_share_an_address) {
    drawing draw;
    int alike = 0, shared = 0;
    for (int i = 0; i < 4000; ++i) {
        const std::int64_t count = draw(1, 3), height = draw(1, 3), width = draw(1, 3);
        const auto lies = [&] {
            tensor_view<float> t{p + draw(0, 60), count, height, width, draw(1, 3)};
            t.col_stride = draw(3, 7);
            t.row_stride = width * t.col_stride + draw(0, 8);
            t.image_stride = height * t.row_stride + draw(0, 1) * draw(0, 9);
            return t;
        };
        const tensor_view<float> in = lies();
        tensor_view<float> out = lies();
        if (draw(0, 1) == 0)
            out.col_stride = in.col_stride, out.row_stride = in.row_stride,
            out.image_stride = in.image_stride;
        const by_view by{p + 3000, out.channels, 1, 1, in.channels};
        const std::set<const float*> of_in = addresses(in), of_out = addresses(out);
        const bool overlap = std::ranges::any_of(of_out, [&](const float* at) { return of_in.contains(at); });
        bool is_refused = false;
        try {
            host::conv<float>(in, by, out);
        } catch (const invalid_argument&) {
            is_refused = true;
        }
        ASSERT_EQ(is_refused, overlap) << "draw " << i;
        shared += overlap ? 1 : 0;
        alike += !is_refused && in.data < out.data + 1 && out.data <= *of_in.rbegin() ? 1 : 0;
    }
    EXPECT_GT(shared, 100);
    EXPECT_GT(alike, 100);  // one begins within the other, and they do not overlap
}

TEST_F(conv_arguments, may_be_empty) {
    const in_view none{nullptr, 0, 6, 5, 4};
    const out_view to_none{nullptr, 0, 4, 4, 8}, no_channels{nullptr, 2, 4, 4, 0};
    const by_view no_filters{nullptr, 0, 3, 2, 4};
    EXPECT_NO_THROW(conv<float>(none, filters, to_none, no_stream));
    EXPECT_NO_THROW(conv<float>(input, no_filters, no_channels, no_stream));
    EXPECT_NO_THROW(host::conv<float>(none, filters, to_none));
    EXPECT_NO_THROW(host::conv<float>(input, no_filters, no_channels));
}

}  // namespace
}  // namespace heddle::test
