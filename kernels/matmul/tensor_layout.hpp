#pragma once

#include <heddle/view.hpp>

#include <cstdint>
#include <limits>

/// Which matrices the tensor memory accelerator can address. Pure.
namespace heddle::kernels::matmul {

inline constexpr std::int64_t tensor_alignment = 16;  ///< of addresses and of strides, in bytes
/// Coordinates are 32-bit integers, also where a tile ends.
inline constexpr std::int64_t max_tensor_extent = std::numeric_limits<std::int32_t>::max() - 1024;

/// Whether the rows are contiguous and lie at addresses that it takes. A dimension of one element has no stride.
template <class T>
bool has_tensor_rows(const matrix_view<T>& m) {
    const bool is_contiguous = m.cols <= 1 || m.col_stride == 1;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(m.data) % tensor_alignment == 0 &&
                            (m.rows <= 1 || m.row_stride * std::int64_t{sizeof(T)} % tensor_alignment == 0);
    constexpr std::int64_t max_stride_bytes = std::int64_t{1} << 40;
    return is_contiguous && is_aligned && m.rows <= max_tensor_extent && m.cols <= max_tensor_extent &&
           m.row_stride < max_stride_bytes / std::int64_t{sizeof(T)};
}

/// Rows of copies begin at multiples of this from the first one on: a box of 128 bytes is then one cache line, or, where
/// the first row does not begin at one, two in every row.
inline constexpr std::int64_t copy_alignment = 128;

/// What a copy takes of a matrix of elements of `element` bytes whose rows begin at multiples of that.
constexpr std::int64_t padded_bytes(std::int64_t rows, std::int64_t cols, std::int64_t element) {
    return rows * ((cols * element + copy_alignment - 1) / copy_alignment * copy_alignment);
}

/// C may have gaps: then the tensor memory accelerator does not store it.
template <class T>
bool has_tensor_extents(const matrix_view<T>& m) {
    return m.rows <= max_tensor_extent && m.cols <= max_tensor_extent;
}

template <class T>
bool has_tensor_rows_or_columns(const matrix_view<T>& m) {
    return has_tensor_rows(m) || has_tensor_rows(transposed(m));
}

/// Whether the tensor memory accelerator can address one of A and B along k; it can address both.
template <class T>
bool has_tensor_operand_along_k(const matrix_view<T>& a, const matrix_view<T>& b) {
    return has_tensor_rows(a) || has_tensor_rows(transposed(b));
}

}  // namespace heddle::kernels::matmul
