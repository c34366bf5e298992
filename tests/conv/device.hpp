#pragma once

#include "tests/conv/operands.hpp"
#include "tests/conv/shapes.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::test {

/// What a call of these operands may be asked for, of which rungs make a difference.
template <class In>
std::vector<precision> precisions() {
    if (std::is_same_v<In, float>) return {precision::fp32, precision::tf32};
    return {precision::fp32};
}

/// check(options) of each rung, and `automatic`, in each of its variants and tiles, until one fails.
template <class Check>
void for_every_conv_plan(conv_options options, Check check) {
    std::vector<conv_algorithm> rungs(conv_algorithms().begin(), conv_algorithms().end());
    rungs.push_back(conv_algorithm::automatic);
    for (const conv_algorithm rung : rungs) {
        std::vector<std::string_view> variants(conv_variants(rung).begin(), conv_variants(rung).end());
        variants.emplace_back();
        const auto tiles = static_cast<int>(conv_tiles(rung).size());
        for (const std::string_view variant : variants)
            for (int tile = -1; tile < tiles; ++tile) {
                options.algorithm = rung;
                options.variant = variant;
                options.tile = tile;
                SCOPED_TRACE(std::string(to_string(rung)) + ", variant '" + std::string(variant) +
                             "', tile " + std::to_string(tile));
                ASSERT_NO_FATAL_FAILURE(check(options));
            }
    }
}

template <class Types>
class conv_device : public gpu_test {
  protected:
    using operands = conv_operands<typename Types::Out, typename Types::In>;

    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream.emplace();
    }

    /// Every plan does these operands right, or is refused where why_not() says so.
    void check(operands& p, conv_options options, const conv_terms& terms = {}) {
        options.geometry = p.s.geometry;
        SCOPED_TRACE(text(p.s));
        const conv_reference expected = p.expected(options);
        const auto call = [&](const conv_options& with) {
            conv<typename Types::Out, typename Types::In>(
                p.input.tensor(), p.filters.filters(), p.output.tensor(), p.epilogue(terms), *stream, with);
        };
        const auto runs = [&](const conv_options& with) {
            return why_not(with.algorithm, p.problem(with, terms), traits_of(current_device()), with.variant)
                .empty();
        };
        p.prepare_output(options.beta);
        for_every_conv_plan(options, [&](const conv_options& with) {
            if (!runs(with)) {
                ASSERT_THROW(call(with), unsupported);
            }
        });
        ASSERT_TRUE(p.output.untouched());
        for_every_conv_plan(options, [&](const conv_options& with) {
            if (!runs(with)) return;
            p.prepare_output(with.beta);
            call(with);
            synchronize(*stream, std::string(to_string(with.algorithm)) + " " + text(p.s));
            ASSERT_NO_FATAL_FAILURE(p.expect_close(expected, with, terms));
        });
        p.expect_intact();  // once, as reading memory takes a device that is shared longest
    }
    void check(const conv_shape& s, const conv_options& options = {}, const conv_gaps& gaps = {},
               const conv_terms& terms = {}) {
        operands p(s, gaps);
        check(p, options, terms);
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
