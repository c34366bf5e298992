#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/windows.hpp"
#include <heddle/conv.hpp>

#include <cstdint>

/// How `im2col` stores windows as a matrix, and when it need not. Pure.
namespace heddle::kernels::conv {

/// Whether each pixel is a window, and pixels lie like the rows of a matrix.
constexpr bool windows_are_rows(const conv_problem& p) {
    return p.filters.height == 1 && p.filters.width == 1 && p.geometry.stride == conv_steps{} &&
           p.geometry.padding == conv_padding{} && is_matrix(p.input);
}

/// Whether products are stored as the output: matmul has the epilogue, and the output lies like a matrix.
constexpr bool products_are_outputs(const conv_problem& p) {
    const bool is_epilogue_of_product = p.is_matmul_epilogue && is_matrix(p.residual);
    return is_matrix(p.output) && (!p.has_epilogue || is_epilogue_of_product);
}

/// Whether a filter's taps follow one another in memory.
constexpr bool filters_are_rows(const tensor_layout& f) {
    return (f.width <= 1 || f.col_stride == f.channels) &&
           (f.height <= 1 || f.row_stride == f.width * f.channels);
}

/// Whether the convolution is one product of matrices in place, without copies and scratch memory.
constexpr bool is_one_product(const conv_problem& p) {
    return p.geometry.groups == 1 && windows_are_rows(p) && filters_are_rows(p.filters) &&
           products_are_outputs(p);
}

/// Whether the tensor memory accelerator can read the operands of the products: windows, laid out or in place, and
/// filters.
constexpr bool products_lie_in_boxes(const conv_problem& p) {
    const auto begins_at_boxes = [](const tensor_layout& t, std::int64_t rows, std::int64_t stride) {
        return is_tensor_address(t.alignment()) && (rows <= 1 || is_tensor_stride(stride, t.element_bytes));
    };
    const bool windows_do =
        !windows_are_rows(p) || (begins_at_boxes(p.input, output_pixels(p), pixel_stride(p.input)) &&
                                 begins_at_boxes(p.input, p.geometry.groups, p.filters.channels));
    return windows_do && begins_at_boxes(p.filters, p.filters.count, p.filters.image_stride);
}

constexpr std::int64_t im2col_unit = 16;  ///< in bytes; rows begin at multiples of it

/// The elements from one row of windows to the next.
constexpr std::int64_t im2col_stride(const conv_problem& p) {
    const std::int64_t packet = im2col_unit / p.input.element_bytes;
    return round_up(depth(p), packet);
}

/// The scratch memory of a part: it has as many images as fit this, but at least one.
inline constexpr std::int64_t im2col_part_bytes = 256 << 20;
/// `automatic` takes no more scratch memory than this.
inline constexpr std::int64_t im2col_most_bytes = std::int64_t{1} << 30;

/// The scratch memory for an image: the windows of one group, if they are copied, and the sums.
constexpr std::int64_t im2col_image_bytes(const conv_problem& p) {
    const std::int64_t windows = windows_are_rows(p) ? 0 : im2col_stride(p) * p.input.element_bytes,
                       sums = products_are_outputs(p) ? 0 : p.output.channels * std::int64_t{sizeof(float)};
    return p.output.height * p.output.width * (windows + sums);
}

/// Whether the sizes of a group's matrix and of the sums can be counted.
constexpr bool im2col_fits(const conv_problem& p) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    return output_pixels(p) <= most / (im2col_stride(p) + p.output.channels + 1);
}

}  // namespace heddle::kernels::conv
