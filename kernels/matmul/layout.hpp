#pragma once

#include "kernels/device/math.hpp"
#include "kernels/device/tensor_map_limits.hpp"
#include <heddle/view.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

/// How matrices lie in memory, and which of them the tensor memory accelerator can address. Pure.
namespace heddle::kernels::matmul {

/// A dimension of one element has no stride.
template <class Matrix>
constexpr bool has_contiguous_rows(const Matrix& m) {
    return m.cols <= 1 || m.col_stride == 1;
}

/// Whether neighbours in a row lie at least as close as those in a column.
template <class Matrix>
constexpr bool lies_by_rows(const Matrix& m) {
    return m.col_stride <= m.row_stride;
}

constexpr bool has_unit_stride(const matrix_layout& m) {
    return m.col_stride == 1 || m.row_stride == 1 || m.cols <= 1 || m.rows <= 1;
}

/// Whether the extents can be tile coordinates. C may have gaps: then the tensor memory accelerator does not store it.
constexpr bool has_tensor_extents(const matrix_layout& m) {
    return m.rows <= max_tensor_extent && m.cols <= max_tensor_extent;
}

/// Whether rows are contiguous, at addresses that the tensor memory accelerator can use.
constexpr bool has_tensor_rows(const matrix_layout& m) {
    const bool is_aligned = is_tensor_address(m.alignment()) &&
                            (m.rows <= 1 || is_aligned_tensor_stride(m.row_stride, m.element_bytes));
    return has_contiguous_rows(m) && is_aligned && has_tensor_extents(m) &&
           is_short_tensor_stride(m.row_stride, m.element_bytes);
}
constexpr bool has_tensor_rows_or_columns(const matrix_layout& m) {
    return has_tensor_rows(m) || has_tensor_rows(transposed(m));
}

/// Whether all matrices of a batch are aligned if the first one is.
constexpr bool begins_at_boxes(std::int64_t batch_stride, std::int64_t element_bytes) {
    return is_tensor_stride(batch_stride, element_bytes);
}
/// Whether the accelerator can read all matrices of a batch in place.
constexpr bool lies_in_boxes(const matrix_layout& first, std::int64_t batch_stride) {
    return has_tensor_rows_or_columns(first) && begins_at_boxes(batch_stride, first.element_bytes);
}
/// The number of stored matrices: one serves all if the stride is 0.
constexpr std::int64_t count_stored(std::int64_t batches, std::int64_t batch_stride) {
    return batch_stride == 0 ? 1 : batches;
}

template <class T>
bool has_tensor_rows(const matrix_view<T>& m) {
    return has_tensor_rows(layout_of(m));
}

/// The first row of a copy begins at a multiple of this, and so do the others. Then the 128 bytes of a box's row are one
/// cache line. Shorter rows are aligned to the power of two that holds them.
inline constexpr std::int64_t copy_alignment = 128;
/// Scratch memory is less aligned, so the first copy may begin up to this many bytes after its start.
inline constexpr std::int64_t copy_slack = copy_alignment - tensor_alignment;
constexpr std::int64_t copied_row_bytes(std::int64_t bytes) {
    const auto fitting = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes)));
    const std::int64_t alignment = std::clamp(fitting, tensor_alignment, copy_alignment);
    return round_up(bytes, alignment);
}

/// The kind of copy that is made of a matrix before the product, so that the tensor memory accelerator can address it. It
/// has contiguous rows or contiguous columns.
enum class copy_kind { none, rows, columns };

struct operand_copies {
    copy_kind a = copy_kind::none;
    copy_kind b = copy_kind::none;

    bool operator==(const operand_copies&) const = default;
};

/// The layout of the copy; in a batch, of the first one.
constexpr matrix_layout copied(const matrix_layout& m, copy_kind kind) {
    if (kind == copy_kind::none) return m;
    if (kind == copy_kind::columns) return transposed(copied(transposed(m), copy_kind::rows));
    const std::int64_t stride = copied_row_bytes(m.cols * m.element_bytes) / m.element_bytes;
    return {m.rows, m.cols, stride, 1, m.element_bytes, copy_alignment};
}

/// The elements from one copy of a batch to the next.
constexpr std::int64_t copied_step(const matrix_layout& m, copy_kind kind) {
    const matrix_layout copy = copied(m, kind);
    return kind == copy_kind::rows ? copy.rows * copy.row_stride : copy.cols * copy.col_stride;
}

/// The bytes of the copies of `count` matrices.
constexpr std::int64_t copied_bytes(const matrix_layout& m, copy_kind kind, std::int64_t count) {
    if (kind == copy_kind::none) return 0;
    return round_up(count * copied_step(m, kind) * m.element_bytes, copy_alignment);
}

}  // namespace heddle::kernels::matmul
