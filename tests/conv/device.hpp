#pragma once

#include "tests/conv/operands.hpp"
#include "tests/conv/shapes.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/kernels.hpp"
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

/// The options of a call with these operands that make rungs differ.
template <class In>
std::vector<precision> precisions() {
    if (std::is_same_v<In, float>) return {precision::fp32, precision::tf32};
    return {precision::fp32};
}

/// Calls check(options) for each rung, for `automatic` and for each kernel, until one fails.
template <class Check>
void for_every_conv_plan(conv_options options, Check check) {
    std::vector<conv_algorithm> rungs(conv_algorithms().begin(), conv_algorithms().end());
    rungs.push_back(conv_algorithm::automatic);
    for (const conv_algorithm rung : rungs)
        for (const std::string_view kernel : kernels_to_ask(rung, conv_kernels(rung))) {
            options.algorithm = rung;
            options.kernel = kernel;
            SCOPED_TRACE(text_of(rung, kernel));
            ASSERT_NO_FATAL_FAILURE(check(options));
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
