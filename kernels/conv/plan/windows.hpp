#pragma once

#include "kernels/conv/kernels.hpp"
#include "kernels/conv/plan/copies.hpp"
#include "kernels/conv/plan/layout.hpp"
#include "kernels/device/tensor_map_limits.hpp"
#include <heddle/conv.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

/// Whose windows the tensor memory accelerator can read, and what a product of such windows needs. Pure.
namespace heddle::kernels::conv {

/// Whether the accelerator can step from pixel to pixel.
constexpr bool has_boxes(const tensor_layout& t) {
    const auto can_step = [&](std::int64_t extent, std::int64_t stride) {
        return extent <= 1 || is_tensor_stride(stride, t.element_bytes);
    };
    return is_tensor_address(t.alignment()) && can_step(t.width, t.col_stride) &&
           can_step(t.height, t.row_stride) && can_step(t.count, t.image_stride);
}

/// Whether all pixels lie at one stride, like the rows of a matrix.
constexpr bool is_matrix(const tensor_layout& t) {
    const bool rows_follow = t.height <= 1 || t.width <= 1 || t.row_stride == t.width * t.col_stride;
    const std::int64_t image_step = t.width > 1 ? t.height * t.width * t.col_stride : t.height * t.row_stride;
    return rows_follow && (t.count <= 1 || t.height * t.width <= 1 || t.image_stride == image_step);
}
/// The stride from one pixel to the next, if is_matrix() holds.
constexpr std::int64_t pixel_stride(const tensor_layout& t) {
    return t.width > 1 ? t.col_stride : t.height > 1 ? t.row_stride : t.image_stride;
}

/// One box holds the windows of a step, and one box its filters.
static_assert(std::ranges::all_of(persistent_kernels, [](const window_kernel& kernel) {
    const tile_shape tile = kernel.tile();
    const auto is_box = [&](std::int64_t bytes) {  // of an element
        return is_window_box(tile.m, step_channels(bytes), bytes) &&
               is_tensor_box(tile.n, step_channels(bytes), bytes);
    };
    return is_box(2) && is_box(4);
}));

/// Whether a map of windows can describe the input (cuTensorMapEncodeIm2col).
constexpr bool has_window_map(const conv_problem& p) {
    const auto fits = [](std::int64_t before, std::int64_t after, std::int64_t taps, std::int64_t dilation,
                         std::int64_t stride) {
        constexpr std::int64_t too_far = max_tap_offset + 1;
        const std::int64_t reach = taps > too_far || dilation > too_far ? too_far : (taps - 1) * dilation;
        return is_window_step(stride) && reach <= max_tap_offset && is_window_corner(-before) &&
               is_window_corner(after - reach) && after <= max_window_corner;
    };
    const conv_geometry& g = p.geometry;
    constexpr std::int64_t most = max_tensor_extent;
    const bool has_pixels = p.input.width > 0 && p.input.height > 0;
    return has_pixels && has_boxes(p.input) && output_pixels(p) <= most && p.input.width <= most &&
           p.input.height <= most && p.input.channels <= most && p.output.channels <= most &&
           depth(p) <= most && output_pixels(p) / 64 + 1 <= most / (p.output.channels / 64 + 1) &&
           fits(g.padding.left, g.padding.right, p.filters.width, g.dilation.x, g.stride.x) &&
           fits(g.padding.top, g.padding.bottom, p.filters.height, g.dilation.y, g.stride.y);
}

/// Whether filters lie so that boxes of channels by outputs can read them, tap by tap.
constexpr bool has_filter_map(const tensor_layout& filters) {
    return has_boxes(filters) && (filters.height <= 1 || filters.width <= 1 ||
                                  filters.row_stride == filters.width * filters.col_stride);
}

/// The copies by which maps can describe the windows and the filters. None of operands that maps describe as they lie.
constexpr operand_copies copies_for_maps(const conv_problem& p) {
    const conv_steps& step = p.geometry.stride;
    const bool is_described = has_boxes(p.input) && is_window_step(step.y) && is_window_step(step.x);
    return {.input = !is_described && can_be_copied(p.input),
            .filters = !has_filter_map(p.filters) && can_be_copied(p.filters)};
}
/// The problem that reads these copies.
constexpr conv_problem with_copies(const conv_problem& p, const operand_copies& copies) {
    conv_problem result = p;
    if (copies.input) {
        keep_met_pixels(result);
        result.input = copied(result.input);
    }
    if (copies.filters) result.filters = copied(p.filters);
    return result;
}
constexpr conv_problem with_maps(const conv_problem& p) {
    return with_copies(p, copies_for_maps(p));
}

/// Whether each tile belongs to one group, and each step to its channels.
constexpr bool is_of_one_group(const conv_problem& p, const tile_shape& tile) {
    return p.geometry.groups == 1 || (p.filters.channels % step_channels(p.filters.element_bytes) == 0 &&
                                      outputs_of_a_group(p) % tile.n == 0);
}

/// The tickets that a workspace has.
inline constexpr std::int64_t max_tickets = 1024;

/// The steps of a tile along its depth, and the number of tiles.
constexpr std::int64_t window_steps_of(const conv_problem& p) {
    return p.filters.height * p.filters.width *
           divide_up(p.filters.channels, step_channels(p.filters.element_bytes));
}
constexpr std::int64_t window_tiles_of(const conv_problem& p, const tile_shape& tile) {
    return divide_up(output_pixels(p), tile.m) * divide_up(p.output.channels, tile.n);
}

}  // namespace heddle::kernels::conv
