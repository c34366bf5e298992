// A user's .cu file: the user's own function in the epilogue of conv.

#include "tests/conv/shapes.hpp"
#include "tests/support/compiled_for.cuh"
#include "tests/support/provoked.hpp"
#include <heddle/conv.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::test {
namespace {

/// A leaky ReLU, weighted with the table's value for the element. It counts its calls.
struct weighted_leaky_relu {
    float slope;
    const float* weights;  ///< as many elements as the output; `calls` too
    float* calls;
    std::int64_t height, width, channels;

    __device__ float operator()(float value, std::int64_t n, std::int64_t y, std::int64_t x,
                                std::int64_t k) const {
        const std::int64_t i = ((n * height + y) * width + x) * channels + k;
        atomicAdd(calls + i, 1.0f);
        return (value < 0 ? slope * value : value) * weights[i];
    }
};

struct asked {
    conv_algorithm algorithm;
    std::string_view kernel{};
};
constexpr asked every_function_plan[] = {{conv_algorithm::automatic},
                                         {conv_algorithm::naive},
                                         {conv_algorithm::tiled},
                                         {conv_algorithm::mma_sync},
                                         {conv_algorithm::persistent},
                                         {conv_algorithm::persistent, "persistent 128x256"},
                                         {conv_algorithm::persistent, "persistent 128x128"},
                                         {conv_algorithm::persistent, "persistent 128x64"}};

template <class Types>
class conv_function : public conv_device<Types> {
  protected:
    using Out = Types::Out;
    using In = Types::In;
    using operands = conv_operands<Out, In>;

    void SetUp() override {
        conv_device<Types>::SetUp();
        if (this->is_set_up()) has_90a_ = has_warpgroups() && is_compiled_for_90a();
    }

    bool can_run(operands& p, const conv_options& with, const conv_terms& terms) const {
        if (with.algorithm == conv_algorithm::persistent && (!has_90a_ || std::is_same_v<In, float>))
            return false;
        const std::string_view kernel =
            with.algorithm == conv_algorithm::mma_sync ? "mma_sync elements" : with.kernel;
        conv_problem problem = p.problem(with, terms);
        problem.has_scratch = false;
        return why_not(with.algorithm, problem, traits_of(current_device()), kernel).empty();
    }

    /// For these operands, every rung that takes a function is right, or is refused where why_not() says so.
    void check_function(operands& p, conv_options options, const conv_terms& terms = {},
                        bool residual_is_output = false) {
        const conv_shape& s = p.s;
        SCOPED_TRACE(text(s));
        options.geometry = s.geometry;
        const conv_reference expected = p.expected(options);
        const std::vector<float> weight_elements = random_elements<float>(s.outputs_all());
        guarded<float> weights(s.outputs_all()), calls(s.outputs_all());
        weights.upload(weight_elements);
        const weighted_leaky_relu function{
            0.25f, weights.data(), calls.data(), s.output_height(), s.output_width(), s.outputs};
        conv_epilogue<Out> epilogue = p.epilogue(terms);
        if (residual_is_output) epilogue.residual = p.output.tensor();
        for (const asked& plan : every_function_plan) {
            conv_options with = options;
            with.algorithm = plan.algorithm;
            with.kernel = plan.kernel;
            SCOPED_TRACE(text_of(plan.algorithm, plan.kernel));
            calls.upload(std::vector<float>(weight_elements.size()));
            if (residual_is_output)
                p.output.upload(p.residuals);
            else
                p.prepare_output(with.beta);
            const auto call = [&] {
                conv<Out, In>(p.input.tensor(), p.filters.filters(), p.output.tensor(), epilogue, function,
                              *this->stream, with);
            };
            if (!can_run(p, with, terms)) {
                ASSERT_THROW(call(), unsupported);
                ASSERT_TRUE(p.output.untouched());
                continue;
            }
            call();
            synchronize(*this->stream, text(s));
            // The slope of the function is at most 1, and it adds two roundings.
            with.precision = precision::fp32;
            ASSERT_NO_FATAL_FAILURE(
                p.expect_close(expected, with, terms, [&](const bounds::approximate& x, std::size_t i) {
                    const double sloped = x.value < 0 ? double{function.slope} * x.value : x.value,
                                 value = sloped * double{weight_elements[i]};
                    return bounds::approximate(value, x.bound + 2 * unit_roundoff<float>() * std::abs(value));
                }));
            p.expect_intact();
            for (const float count : calls.download()) ASSERT_EQ(count, 1);
        }
    }
    void check_function(const conv_shape& s, const conv_options& options = {}, const conv_gaps& gaps = {},
                        const conv_terms& terms = {}) {
        operands p(s, gaps);
        check_function(p, options, terms);
    }

    bool has_90a_ = false;
};
TYPED_TEST_SUITE(conv_function, every_conv_type, conv_type_names);

TYPED_TEST(conv_function, has_every_place) {
    for (const conv_shape& s : conv_shapes()) ASSERT_NO_FATAL_FAILURE(this->check_function(s));
}

TYPED_TEST(conv_function, is_applied_to_sums_with_all_terms) {
    for (const conv_shape& s : {conv_shape{3, 9, 8, 24, 136, 3, 3, {.padding = {0, 1, 2, 1}}},
                                {2, 7, 5, 3, 21, 3, 3, {.padding = around(1), .groups = 3}},
                                {1, 7, 6, 128, 128, 3, 3, {.padding = around(1), .groups = 2}}})
        for (const bool has_residual : {false, true})
            for (const bool before : {false, true})
                for (const float beta : {0.0f, 0.5f})
                    ASSERT_NO_FATAL_FAILURE(
                        this->check_function(s, {.alpha = 0.5f, .beta = beta}, {},
                                             {matmul_activation::none, true, true, has_residual, before}));
}

TYPED_TEST(conv_function, takes_operands_of_any_alignment_or_says_so) {
    const conv_shape s{3, 9, 8, 24, 136, 3, 3, {.padding = {0, 1, 2, 1}}};
    constexpr std::int64_t packet = 16 / sizeof(typename TypeParam::In);
    const tensor_gaps whole{packet, 2 * packet, packet, 3 * packet};
    for (const tensor_gaps& in : {whole, tensor_gaps{.offset = 1}, {.pixel = 1}})
        for (const tensor_gaps& out :
             {tensor_gaps{}, {.offset = 1}, {.pixel = 1}, {.row = 1}, {.pixel = 8, .offset = 3}})
            ASSERT_NO_FATAL_FAILURE(this->check_function(
                s, {.beta = 1},
                {.input = in, .filters = {.pixel = packet, .image = packet}, .output = out, .residual = out},
                all_terms));
}

TYPED_TEST(conv_function, takes_drawn_problems) {
    drawing draw;
    for (int i = 0; i < 30; ++i) {
        SCOPED_TRACE("draw " + std::to_string(i));
        const conv_shape s = draw_conv_shape(draw);
        const conv_terms terms{matmul_activation::none, draw(0, 1) == 0, draw(0, 1) == 0, draw(0, 1) == 0,
                               draw(0, 1) == 0};
        ASSERT_NO_FATAL_FAILURE(this->check_function(
            s, {.alpha = 0.5f, .beta = draw(0, 1) == 0 ? 0 : 0.75f},
            {draw_gaps(draw), draw_gaps(draw), draw_gaps(draw), draw_gaps(draw)}, terms));
    }
}

TYPED_TEST(conv_function, of_float_is_of_operands_that_are_not_rounded) {
    if constexpr (std::is_same_v<typename TypeParam::In, float>)
        for (const conv_shape& s : conv_shapes())
            ASSERT_NO_FATAL_FAILURE(this->check_function(s, {.precision = precision::tf32}));
}

TYPED_TEST(conv_function, takes_the_output_as_residual) {
    for (const conv_shape& s : {conv_shape{2, 9, 8, 64, 128, 3, 3, {.padding = around(1)}},
                                {1, 7, 9, 5, 13, 3, 3, {.padding = around(1)}}}) {
        conv_operands<typename TypeParam::Out, typename TypeParam::In> p(s);
        ASSERT_NO_FATAL_FAILURE(this->check_function(p, {}, all_terms, true));
    }
}

TYPED_TEST(conv_function, is_applied_where_nothing_is_multiplied) {
    ASSERT_NO_FATAL_FAILURE(this->check_function({2, 9, 8, 64, 72, 3, 3, {.padding = around(1)}},
                                                 {.alpha = 0, .beta = 0.5f}, {}, all_terms));
    ASSERT_NO_FATAL_FAILURE(this->check_function({1, 4, 5, 0, 9, 1, 1}, {}, {}, all_terms));
}

using conv_function_refusals = gpu_test;

TEST_F(conv_function_refusals, name_the_rungs_that_take_one) {
    const stream s;
    conv_operands<half, half> p({1, 6, 5, 16, 16, 3, 3});
    const auto reason_of = [&](const conv_options& options) {
        return error_of<unsupported>([&] {
            conv<half>(p.input.tensor(), p.filters.filters(), p.output.tensor(), {}, weighted_leaky_relu{}, s,
                       options);
        });
    };
    p.prepare_output(0);
    const std::string those =
        " takes no function; these do: naive, tiled, mma_sync elements 64x64, persistent 128x256, persistent "
        "128x128, persistent 128x64";
    EXPECT_EQ(reason_of({.algorithm = conv_algorithm::wgmma}), "conv: wgmma" + those);
    for (const conv_algorithm each : {conv_algorithm::persistent, conv_algorithm::automatic})
        EXPECT_EQ(reason_of({.algorithm = each, .kernel = "persistent 256x128"}),
                  "conv: persistent 256x128" + those);
    for (const std::string kernel :
         {"mma_sync packets 128x128", "mma_sync elements 64x32", "mma_sync packets"})
        EXPECT_EQ(reason_of({.algorithm = conv_algorithm::mma_sync, .kernel = kernel}),
                  "conv: " + kernel + those);
    EXPECT_TRUE(p.output.untouched());
}

// Arguments are checked before anything is enqueued, so no device is needed.
class conv_function_arguments : public testing::Test {
  protected:
    void call(const tensor_view<float>& to, const conv_epilogue<float>& epilogue = {},
              const conv_options& options = {}) {
        conv<float>(input, filters, to, epilogue, weighted_leaky_relu{}, cudaStream_t{}, options);
    }
    std::string message(const tensor_view<float>& to, const conv_epilogue<float>& epilogue = {},
                        const conv_options& options = {}) {
        return invalid_argument_of([&] { call(to, epilogue, options); });
    }

    std::vector<float> memory_ = std::vector<float>(4000);
    float* const p = memory_.data();
    const tensor_view<const float> input{p, 2, 6, 5, 4};
    const filter_view<const float> filters{p + 500, 8, 3, 2, 4};
    const tensor_view<float> output{p + 1000, 2, 4, 4, 8};
};

TEST_F(conv_function_arguments, are_checked_as_those_of_conv) {
    EXPECT_EQ(message({p + 1000, 2, 3, 4, 8}), "conv: output.height is 3, expected 4 (conv_output_height())");
    EXPECT_EQ(message({p, 2, 4, 4, 8}),
              "conv: output is a view that overlaps input, expected one apart from it");
    EXPECT_EQ(message(output, {.bias = {p + 3000, 7}}),
              "conv: epilogue.bias.size is 7, expected 8 (output.channels), or 0");
    EXPECT_EQ(message(output, {.activation = matmul_activation::relu}),
              "conv: epilogue.activation is 1, expected none: the function stands in its place");
    EXPECT_NE(message(output, {}, {.algorithm = static_cast<conv_algorithm>(99)}), "");
    EXPECT_NE(message(output, {}, {.kernel = "128x256"}), "");
    EXPECT_NE(message(output, {}, {.scratch = static_cast<scratch>(99)}), "");
    EXPECT_NE(message(output, {}, {.geometry = {.groups = 3}}), "");
}

TEST_F(conv_function_arguments, may_be_empty) {
    conv<float>({p, 0, 6, 5, 4}, filters, tensor_view<float>{p + 1000, 0, 4, 4, 8}, {}, weighted_leaky_relu{},
                cudaStream_t{});
    const half pixels[2 * 6 * 5 * 4] = {};
    conv<half>({pixels, 2, 6, 5, 4}, {nullptr, 0, 3, 2, 4}, tensor_view<half>{nullptr, 2, 4, 4, 0}, {},
               weighted_leaky_relu{}, cudaStream_t{});
    EXPECT_TRUE(std::ranges::all_of(memory_, [](float e) { return e == 0; }));
}

}  // namespace
}  // namespace heddle::test
