#pragma once

#include "tests/bounds/products.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/guarded_tensor.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/conv.hpp>
#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::test {

template <class Result, class Operand>
struct conv_types {
    using Out = Result;
    using In = Operand;
};
using every_conv_type =
    testing::Types<conv_types<float, float>, conv_types<half, half>, conv_types<float, half>,
                   conv_types<bfloat16, bfloat16>, conv_types<float, bfloat16>>;
struct conv_type_names {
    template <class Types>
    static std::string GetName(int) {
        const std::string in = type_name<typename Types::In>(), out = type_name<typename Types::Out>();
        return in == out ? in : in + "_to_" + out;
    }
};

struct conv_shape {
    std::int64_t count, height, width, channels, outputs, filter_height, filter_width;
    conv_geometry geometry{};

    std::int64_t output_height() const { return conv_output_height(height, filter_height, geometry); }
    std::int64_t output_width() const { return conv_output_width(width, filter_width, geometry); }
    std::int64_t group_channels() const { return channels / geometry.groups; }
    std::int64_t inputs_all() const { return count * height * width * channels; }
    std::int64_t filters_all() const { return outputs * depth(); }
    std::int64_t outputs_all() const { return count * output_height() * output_width() * outputs; }
    std::int64_t depth() const { return filter_height * filter_width * group_channels(); }
};

inline std::string text(const conv_shape& s) {
    const auto join = [](std::initializer_list<std::int64_t> all) {
        std::string joined;
        for (const std::int64_t each : all) {
            if (!joined.empty()) joined += 'x';
            joined += std::to_string(each);
        }
        return joined;
    };
    const conv_geometry& g = s.geometry;
    return join({s.count, s.height, s.width, s.channels}) + " by " +
           join({s.outputs, s.filter_height, s.filter_width}) + ", stride " + join({g.stride.y, g.stride.x}) +
           ", padding " + join({g.padding.top, g.padding.bottom, g.padding.left, g.padding.right}) +
           ", dilation " + join({g.dilation.y, g.dilation.x}) + ", groups " + std::to_string(g.groups);
}

struct conv_gaps {
    tensor_gaps input{}, filters{}, output{}, residual{};
};

/// A sum of products, and of their magnitudes.
struct conv_sum {
    double value = 0, magnitude = 0;
};

/// The sum of a pixel, which counts among all pixels of the output, for channel k. input(i) and filter(i) are the
/// elements of dense tensors.
template <class Input, class Filter>
conv_sum conv_sum_at(const conv_shape& s, std::int64_t pixel, std::int64_t k, Input input, Filter filter) {
    const conv_geometry& g = s.geometry;
    const std::int64_t depth = s.group_channels(), group = k / (s.outputs / g.groups),
                       line = pixel / s.output_width(), n = line / s.output_height(),
                       top = line % s.output_height() * g.stride.y - g.padding.top,
                       left = pixel % s.output_width() * g.stride.x - g.padding.left;
    conv_sum sum;
    for (std::int64_t r = 0; r < s.filter_height; ++r)
        for (std::int64_t c = 0; c < s.filter_width; ++c) {
            const std::int64_t y = top + r * g.dilation.y, x = left + c * g.dilation.x;
            if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
            const std::int64_t from = ((n * s.height + y) * s.width + x) * s.channels + group * depth,
                               tap = ((k * s.filter_height + r) * s.filter_width + c) * depth;
            for (std::int64_t channel = 0; channel < depth; ++channel) {
                const double product = input(from + channel) * filter(tap + channel);
                sum.value += product;
                sum.magnitude += std::abs(product);
            }
        }
    return sum;
}

template <class T>
std::vector<double> in_double(const std::vector<T>& elements) {
    std::vector<double> all(elements.size());
    std::ranges::transform(elements, all.begin(), to_double<T>);
    return all;
}

/// The result in float64 (alpha * sum + beta * output), and the sums of magnitudes for error bounds.
struct conv_reference {
    std::vector<double> value, magnitude;

    template <class In, class Out>
    conv_reference(const conv_shape& s, const std::vector<In>& xs, const std::vector<In>& ws,
                   const std::vector<Out>& ys, double alpha, double beta) {
        const std::vector<double> x = in_double(xs), w = in_double(ws);
        const bool is_product = alpha != 0 && s.channels > 0;
        for (std::int64_t i = 0; i < s.outputs_all(); ++i) {
            const auto at = [](const std::vector<double>& from) {
                return [&](std::int64_t place) { return from[static_cast<std::size_t>(place)]; };
            };
            const conv_sum sum =
                is_product ? conv_sum_at(s, i / s.outputs, i % s.outputs, at(x), at(w)) : conv_sum();
            const double old = beta == 0 ? 0 : beta * to_double(ys[value.size()]);
            value.push_back(alpha * sum.value + old);
            magnitude.push_back(std::abs(alpha) * sum.magnitude + std::abs(old));
        }
    }
};

/// The error bound in float32 of an element's alpha times its sum, plus beta times the output (docs/accuracy.md).
template <class In>
double conv_sum_bound(const conv_options& with, const conv_shape& s, double magnitude) {
    return bounds::of_conv<In>(with.algorithm, with.precision, s.filter_height, s.filter_width,
                               s.group_channels()) *
               magnitude +
           smallest<float>();
}

/// The terms of an epilogue.
struct conv_terms {
    matmul_activation activation = matmul_activation::none;
    bool bias = false, scale = false, residual = false;
    bool residual_before_activation = true;
};
inline constexpr conv_terms all_terms{matmul_activation::none, true, true, true};

/// The operands of a convolution in guarded memory, and their values.
template <class Out, class In>
struct conv_operands {
    conv_shape s;
    std::vector<In> xs, ws;
    std::vector<Out> ys, biases, scales, residuals;
    guarded_tensor<In> input, filters;
    guarded_tensor<Out> output, residual;
    guarded<Out> bias, scale;

    explicit conv_operands(const conv_shape& size, const conv_gaps& gaps = {})
        : s(size),
          xs(random_elements<In>(s.inputs_all())),
          ws(random_elements<In>(s.filters_all())),
          ys(random_elements<Out>(s.outputs_all())),
          biases(random_elements<Out>(s.outputs)),
          scales(random_elements<Out>(s.outputs, 0.5, 1.5)),
          residuals(random_elements<Out>(s.outputs_all())),
          input(s.count, s.height, s.width, s.channels, gaps.input),
          filters(s.outputs, s.filter_height, s.filter_width, s.group_channels(), gaps.filters),
          output(s.count, s.output_height(), s.output_width(), s.outputs, gaps.output),
          residual(s.count, s.output_height(), s.output_width(), s.outputs, gaps.residual),
          bias(1, s.outputs, s.outputs, 1),
          scale(1, s.outputs, s.outputs * 2, 0, 2) {
        upload();
    }
    void upload() {
        input.upload(xs);
        filters.upload(ws);
        residual.upload(residuals);
        bias.upload(biases);
        scale.upload(scales);
    }

    /// Where beta is 0, the output holds NaN, which must not reach the result.
    void prepare_output(float beta) {
        output.upload(beta != 0 ? ys
                                : std::vector<Out>(ys.size(), Out(std::numeric_limits<float>::quiet_NaN())));
    }

    conv_epilogue<Out> epilogue(const conv_terms& terms) {
        conv_epilogue<Out> e{.activation = terms.activation,
                             .residual_before_activation = terms.residual_before_activation};
        if (terms.bias) e.bias = bias.vector();
        if (terms.scale) e.scale = scale.vector();
        if (terms.residual) e.residual = residual.tensor();
        return e;
    }

    conv_problem problem(const conv_options& options, const conv_terms& terms = {}) {
        return conv_problem_of<Out, In>(input.tensor(), filters.filters(), output.tensor(), epilogue(terms),
                                        options);
    }

    conv_reference expected(const conv_options& with) const {
        return {s, xs, ws, ys, double{with.alpha}, double{with.beta}};
    }

    void expect_close(const conv_reference& of, const conv_options& with, const conv_terms& terms = {}) {
        expect_close(of, with, terms, [&](const bounds::approximate& x, std::size_t) {
            return bounds::activated(terms.activation, x, 0x1p-16);
        });
    }
    /// activate(x, i) gives the result of element i.
    template <class Activate>
    void expect_close(const conv_reference& of, const conv_options& with, const conv_terms& terms,
                      Activate activate) {
        const auto [actual, canaries_alive] = output.inspect();
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const std::size_t k = i % static_cast<std::size_t>(s.outputs);
            const auto expected = bounds::conv_result(
                {of.value[i], conv_sum_bound<In>(with, s, of.magnitude[i])},
                terms.scale ? to_double(scales[k]) : 1, terms.bias ? to_double(biases[k]) : 0,
                terms.residual ? to_double(residuals[i]) : 0, terms.residual_before_activation,
                [&](const bounds::approximate& x) { return activate(x, i); });
            ASSERT_TRUE(is_within(to_double(actual[i]), expected.value, bounds::stored_as<Out>(expected)))
                << "element " << i;
        }
        ASSERT_TRUE(canaries_alive);
    }
    /// Checks that nothing but the elements of the output has changed.
    void expect_intact() {
        EXPECT_TRUE(output.canaries_alive());
        EXPECT_TRUE(input.untouched());
        EXPECT_TRUE(filters.untouched());
        EXPECT_TRUE(residual.untouched());
    }
};

/// The options of a call with these operands that make rungs differ.
template <class In>
std::vector<precision> precisions() {
    if (std::is_same_v<In, float>) return {precision::fp32, precision::tf32};
    return {precision::fp32};
}

template <class Check>
void for_every_conv_plan(const conv_options& options, Check check) {
    for_every_plan(
        conv_algorithms(), [](auto rung) { return conv_kernels(rung); }, options, check);
}

template <class Types>
class conv_device : public stream_fixture {
  protected:
    using operands = conv_operands<typename Types::Out, typename Types::In>;
};

}  // namespace heddle::test
