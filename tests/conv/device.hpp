#pragma once

#include "tests/conv/operands.hpp"
#include "tests/conv/shapes.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/conv.hpp>
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

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
