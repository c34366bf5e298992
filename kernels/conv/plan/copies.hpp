#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/device/tensor_map_limits.hpp"
#include <heddle/conv.hpp>
#include <heddle/tensor.hpp>

#include <cstdint>

/// Copies of operands in scratch memory, where the tensor memory accelerator can read them. Pure.
namespace heddle::kernels::conv {

/// The operands that are copied before the kernel.
struct operand_copies {
    bool input = false;
    bool filters = false;

    bool operator==(const operand_copies&) const = default;
};

/// The channels of a pixel or a tap and the zeros behind them, up to a multiple of 16 bytes.
constexpr std::int64_t padded_channels(std::int64_t channels, std::int64_t element_bytes) {
    const std::int64_t packet = tensor_alignment / element_bytes;
    return divide_up(channels, packet) * packet;
}

/// The copy of a tensor with channels. It is dense.
constexpr tensor_layout copied(const tensor_layout& t) {
    return {.count = t.count,
            .height = t.height,
            .width = t.width,
            .channels = padded_channels(t.channels, t.element_bytes),
            .element_bytes = t.element_bytes};
}
constexpr std::int64_t dense_bytes(const tensor_layout& copy) {
    return copy.count * copy.image_stride * copy.element_bytes;
}

/// Leaves of the input the rows and columns that windows meet, where filters have one tap and no padding along an axis.
/// `Problem` is a conv_problem, or the arguments of a call.
template <class Problem>
constexpr void keep_met_pixels(Problem& p) {
    const auto keep = [](std::int64_t taps, std::int64_t around, std::int64_t places, std::int64_t& extent,
                         std::int64_t& stride, std::int64_t& step) {
        if (taps != 1 || around != 0) return;
        extent = places;
        if (places > 1) stride *= step;
        step = 1;
    };
    conv_geometry& g = p.geometry;
    keep(p.filters.height, g.padding.top + g.padding.bottom, p.output.height, p.input.height,
         p.input.row_stride, g.stride.y);
    keep(p.filters.width, g.padding.left + g.padding.right, p.output.width, p.input.width, p.input.col_stride,
         g.stride.x);
}

/// Whether 32 bits can count the packets of 16 bytes of a copy.
constexpr bool can_be_copied(const tensor_layout& t) {
    constexpr double end = 0x1p32 * tensor_alignment;
    return static_cast<double>(t.count) * static_cast<double>(t.height) * static_cast<double>(t.width) *
               static_cast<double>(padded_channels(t.channels, t.element_bytes) * t.element_bytes) <
           end;
}

}  // namespace heddle::kernels::conv
