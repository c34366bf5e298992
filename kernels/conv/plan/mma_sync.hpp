#pragma once

#include "kernels/conv/kernels.hpp"
#include "kernels/conv/plan/layout.hpp"
#include "kernels/device/grid.hpp"
#include <heddle/conv.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

/// Which convolutions `mma_sync` can do, and with which of its kernels. Pure.
namespace heddle::kernels::conv {

/// Whether copies of `bytes` bytes never cross pixels or taps, and begin at multiples of that number. Also copies that lie
/// outside and read nothing must do so. So strides count even if there is but one row or column.
constexpr bool lies_in(const tensor_layout& t, std::int64_t bytes) {
    const auto is_whole = [&](std::int64_t stride) { return stride * t.element_bytes % bytes == 0; };
    return t.alignment() % bytes == 0 && is_whole(t.col_stride) && is_whole(t.row_stride) &&
           is_whole(t.image_stride);
}
constexpr bool lies_in(const conv_problem& p, std::int64_t bytes) {
    return p.filters.channels * p.filters.element_bytes % bytes == 0 && lies_in(p.input, bytes) &&
           lies_in(p.filters, bytes);
}

constexpr std::int64_t mma_tile_count(const conv_problem& p, const tile_shape& tile) {
    return divide_up(output_pixels(p), tile.m) * p.geometry.groups * divide_up(outputs_of_a_group(p), tile.n);
}

constexpr bool fits_grid(const conv_problem& p, const tile_shape& tile) {
    return mma_tile_count(p, tile) <= max_grid_x;
}

/// Whether offsets in an image and along a sum fit 32 bits, even one step beyond the end, and the tiles fit a grid.
constexpr bool fits_in_ints(const conv_problem& p) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    const conv_padding& around = p.geometry.padding;
    return p.input.height + around.top + around.bottom <= most &&
           p.input.width + around.left + around.right <= most && depth(p) <= most &&
           p.output.channels <= most &&
           output_pixels(p) / 64 + 1 <= max_grid_x / (p.output.channels / 32 + p.geometry.groups);
}

/// Whether packets of output and residual lie in one group each.
inline bool stores_in_packets(const conv_problem& p) {
    return has_packets(p.output, output_packet) && has_packets(p.residual, output_packet) &&
           outputs_of_a_group(p) % output_packet == 0;
}

}  // namespace heddle::kernels::conv
