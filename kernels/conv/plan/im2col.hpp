#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/windows.hpp"
#include <heddle/conv.hpp>

#include <cstdint>

/// How `im2col` lays out windows as a matrix, and where it has no need to. Pure.
namespace heddle::kernels::conv {

/// Each pixel is a window of its own, and they lie as the rows of a matrix do.
constexpr bool windows_are_rows(const conv_problem& p) {
    return p.filters.height == 1 && p.filters.width == 1 && p.geometry.stride == conv_steps{} &&
           p.geometry.padding == conv_padding{} && is_matrix(p.input);
}

/// Products are stored as they are: matmul has the epilogue, and the output lies as a matrix does.
constexpr bool products_are_outputs(const conv_problem& p) {
    const bool is_epilogue_of_product = p.is_matmul_epilogue && is_matrix(p.residual);
    return is_matrix(p.output) && (!p.has_epilogue || is_epilogue_of_product);
}

/// A filter's taps follow one another.
constexpr bool filters_are_rows(const tensor_layout& f) {
    return (f.width <= 1 || f.col_stride == f.channels) &&
           (f.height <= 1 || f.row_stride == f.width * f.channels);
}

/// The convolution is one product of matrices as they lie: nothing is copied, and no scratch memory taken.
constexpr bool is_one_product(const conv_problem& p) {
    return p.geometry.groups == 1 && windows_are_rows(p) && filters_are_rows(p.filters) &&
           products_are_outputs(p);
}

constexpr std::int64_t im2col_unit = 16;  ///< bytes, at multiples of which rows begin

/// From one row of windows to the next, in elements.
constexpr std::int64_t im2col_stride(const conv_problem& p) {
    const std::int64_t packet = im2col_unit / p.input.element_bytes;
    return (depth(p) + packet - 1) / packet * packet;
}

/// A part has as many images as fit this, or one.
inline constexpr std::int64_t im2col_part_bytes = 256 << 20;
/// More scratch memory `automatic` does not take.
inline constexpr std::int64_t im2col_most_bytes = std::int64_t{1} << 30;

/// Scratch memory for an image, of a group at a time: its windows where these are copied, and its sums.
constexpr std::int64_t im2col_image_bytes(const conv_problem& p) {
    const std::int64_t windows = windows_are_rows(p) ? 0 : im2col_stride(p) * p.input.element_bytes,
                       sums = products_are_outputs(p) ? 0 : p.output.channels * std::int64_t{sizeof(float)};
    return p.output.height * p.output.width * (windows + sums);
}

/// Whether the matrix, of a group at a time, and sums have sizes that can be counted.
constexpr bool im2col_fits(const conv_problem& p) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    return output_pixels(p) <= most / (im2col_stride(p) + p.output.channels + 1);
}

}  // namespace heddle::kernels::conv
