#pragma once

#include <cstdint>
#include <limits>

/// Which tensors the tensor memory accelerator can address, and in which boxes: what the CUDA driver API asks of the arguments
/// of cuTensorMapEncodeTiled() and cuTensorMapEncodeIm2col(). Pure.
namespace heddle::kernels {

inline constexpr std::int64_t tensor_alignment =
    16;  ///< of addresses, of strides and of rows of boxes, in bytes
inline constexpr std::int64_t end_of_tensor_strides = std::int64_t{1} << 40;  ///< in bytes
/// A map has extents of up to 2^32. But coordinates are signed integers of 32 bits, also where a tile ends.
inline constexpr std::int64_t max_tensor_extent = std::numeric_limits<std::int32_t>::max() - 1024;

/// `alignment` is the largest power of two of which the address is a multiple.
constexpr bool is_tensor_address(std::int64_t alignment) {
    return alignment >= tensor_alignment;
}

// Strides are counted in elements. Elements themselves lie side by side: they have no stride that these apply to.

constexpr bool is_aligned_tensor_stride(std::int64_t stride, std::int64_t element_bytes) {
    return stride % tensor_alignment * element_bytes % tensor_alignment == 0;
}
constexpr bool is_short_tensor_stride(std::int64_t stride, std::int64_t element_bytes) {
    return stride < end_of_tensor_strides / element_bytes;
}
constexpr bool is_tensor_stride(std::int64_t stride, std::int64_t element_bytes) {
    return is_aligned_tensor_stride(stride, element_bytes) && is_short_tensor_stride(stride, element_bytes);
}

inline constexpr std::int64_t max_box_side = 256;          ///< elements
inline constexpr std::int64_t max_windows_at_once = 1024;  ///< of which a box of channels is read

/// The bytes within which packets of 16 change places, where a box has rows of so many; 0 where the rows are too long for that.
constexpr int swizzle_of_rows(std::int64_t row_bytes) {
    return row_bytes <= 64 ? 64 : row_bytes <= 128 ? 128 : 0;
}
/// `cols` elements lie side by side.
constexpr bool is_tensor_box(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
    return rows >= 1 && rows <= max_box_side && cols >= 1 && cols <= max_box_side &&
           cols * element_bytes % tensor_alignment == 0;
}
/// A box of windows is in swizzled rows.
constexpr bool is_window_box(std::int64_t windows, std::int64_t channels, std::int64_t element_bytes) {
    return windows >= 1 && windows <= max_windows_at_once && is_tensor_box(1, channels, element_bytes) &&
           swizzle_of_rows(channels * element_bytes) != 0;
}

// Windows step along the rows and the columns of an image.

inline constexpr std::int64_t max_window_step = 8;
inline constexpr std::int64_t max_tap_offset = 255;  ///< pixels from the first tap of a window to the last
/// Where the first taps of all windows begin, less where the image does; and where they end, less where the image does.
inline constexpr std::int64_t min_window_corner = -128, max_window_corner = 127;

constexpr bool is_window_corner(std::int64_t corner) {
    return corner >= min_window_corner && corner <= max_window_corner;
}
constexpr bool is_window_step(std::int64_t step) {
    return step >= 1 && step <= max_window_step;
}

}  // namespace heddle::kernels
