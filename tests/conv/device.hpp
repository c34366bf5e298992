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
