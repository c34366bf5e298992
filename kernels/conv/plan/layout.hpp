#pragma once

#include "kernels/device/math.hpp"
#include <heddle/conv.hpp>
#include <heddle/tensor.hpp>

#include <algorithm>
#include <cstdint>

/// How a convolution's tensors lie in memory, and the extents of its product. Pure.
namespace heddle::kernels::conv {

/// Whether neighbouring channels can be loaded or stored `packet` at a time.
inline bool has_packets(const tensor_layout& t, std::int64_t packet) {
    const std::int64_t bytes = packet * t.element_bytes;
    const auto is_whole = [&](std::int64_t extent, std::int64_t stride) {
        return extent <= 1 || stride * t.element_bytes % bytes == 0;
    };
    return t.channels % packet == 0 && t.alignment() % bytes == 0 && is_whole(t.width, t.col_stride) &&
           is_whole(t.height, t.row_stride) && is_whole(t.count, t.image_stride);
}

/// Tiles are stored in packets of this many outputs.
inline constexpr int output_packet = 4;

/// Each of these output pixels has a sum for each filter.
constexpr std::int64_t output_pixels(const conv_problem& p) {
    return p.output.count * p.output.height * p.output.width;
}
constexpr std::int64_t outputs_of_a_group(const conv_problem& p) {
    return p.filters.count / p.geometry.groups;
}
/// The bytes of this many pixels of a tensor.
constexpr double pixel_bytes(const tensor_layout& t, double pixels) {
    return pixels * static_cast<double>(t.channels) * static_cast<double>(t.element_bytes);
}
/// The bytes of the input that windows meet.
constexpr double input_bytes(const conv_problem& p) {
    const std::int64_t height = std::min(p.input.height, p.output.height * p.filters.height),
                       width = std::min(p.input.width, p.output.width * p.filters.width);
    return pixel_bytes(p.input, static_cast<double>(p.input.count) * static_cast<double>(height) *
                                    static_cast<double>(width));
}
/// The bytes that are read and written in all.
constexpr double tensor_bytes(const conv_problem& p) {
    const double taps =
        static_cast<double>(p.filters.count) * static_cast<double>(p.filters.height * p.filters.width);
    const bool adds = p.residual.count > 0;
    return input_bytes(p) + pixel_bytes(p.filters, taps) +
           pixel_bytes(p.output, static_cast<double>(output_pixels(p))) * (adds ? 2 : 1);
}

/// The number of terms of a sum.
constexpr std::int64_t depth(const conv_problem& p) {
    return p.filters.height * p.filters.width * p.filters.channels;
}
/// The steps along a sum of this many terms or bytes. A sum without terms takes one.
constexpr std::int64_t steps_along(std::int64_t sum, std::int64_t step) {
    return std::max<std::int64_t>(1, divide_up(sum, step));
}

}  // namespace heddle::kernels::conv
