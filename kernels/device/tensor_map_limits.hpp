#pragma once

#include <cstdint>
#include <limits>

/// Which tensors the tensor memory accelerator can address, and in which boxes. These are the limits that the CUDA driver
/// API states for cuTensorMapEncodeTiled() and cuTensorMapEncodeIm2col(). Pure.
namespace heddle::kernels {

inline constexpr std::int64_t tensor_alignment =
    16;  ///< of addresses, of strides and of rows of boxes, in bytes
inline constexpr std::int64_t end_of_tensor_strides = std::int64_t{1} << 40;  ///< in bytes
/// A map allows extents of up to 2^32. But coordinates are signed 32-bit integers, even at the end of the last tile.
inline constexpr std::int64_t max_tensor_extent = std::numeric_limits<std::int32_t>::max() - 1024;

/// Whether an address is allowed; `alignment` is the largest power of two that divides it.
constexpr bool is_tensor_address(std::int64_t alignment) {
    return alignment >= tensor_alignment;
}

// Strides are counted in elements. The elements of a row lie side by side: these limits do not apply to them.

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
inline constexpr std::int64_t max_windows_at_once = 1024;  ///< from which one copy reads a box of channels

/// The span in bytes within which a box with rows of this length has its 16-byte packets permuted; 0 where rows are too long.
constexpr int swizzle_of_rows(std::int64_t row_bytes) {
    return row_bytes <= 64 ? 64 : row_bytes <= 128 ? 128 : 0;
}
/// Whether a box may have this shape; its `cols` elements lie side by side.
constexpr bool is_tensor_box(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
    return rows >= 1 && rows <= max_box_side && cols >= 1 && cols <= max_box_side &&
           cols * element_bytes % tensor_alignment == 0;
}
/// Whether a copy may read this many windows and channels. Its rows are swizzled.
constexpr bool is_window_box(std::int64_t windows, std::int64_t channels, std::int64_t element_bytes) {
    return windows >= 1 && windows <= max_windows_at_once && is_tensor_box(1, channels, element_bytes) &&
           swizzle_of_rows(channels * element_bytes) != 0;
}

// The steps of windows along the rows and columns of an image.

inline constexpr std::int64_t max_window_step = 8;
inline constexpr std::int64_t max_tap_offset = 255;  ///< pixels from the first tap of a window to the last
/// The place of the first window's first tap, from the image's start, and of the last window's, from its end.
inline constexpr std::int64_t min_window_corner = -128, max_window_corner = 127;

constexpr bool is_window_corner(std::int64_t corner) {
    return corner >= min_window_corner && corner <= max_window_corner;
}
constexpr bool is_window_step(std::int64_t step) {
    return step >= 1 && step <= max_window_step;
}

}  // namespace heddle::kernels
