#pragma once

#include "src/overlap.hpp"
#include "src/require.hpp"
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace heddle::detail {

/// The stride of a dimension with one element is ignored.
template <class T>
constexpr bool is_row_major(const matrix_view<T>& m) {
    return m.rows <= 1 || m.cols <= 1 || m.col_stride <= m.row_stride;
}

/// The footprint of runs of `run` elements that the dimensions repeat.
template <class T>
footprint footprint_of(const T* data, std::int64_t run, std::initializer_list<strided> dimensions) {
    return {reinterpret_cast<std::uintptr_t>(data), run, dimensions, sizeof(T)};
}
template <class T>
footprint footprint_of(const matrix_view<T>& m) {
    return footprint_of(m.data, 1, {{m.rows, m.row_stride}, {m.cols, m.col_stride}});
}
template <class T>
footprint footprint_of(const vector_view<T>& v) {
    return footprint_of(v.data, 1, {{v.size, v.stride}});
}
template <class T>
footprint footprint_of(const image_batch_view<T>& batch) {
    const image_view<T>& first = batch.first;
    return footprint_of(first.data, first.width * first.channels,
                        {{first.height, first.row_stride}, {batch.count, batch.stride}});
}

template <class T>
void validate_pointer(const char* operation, const char* name, const T* data) {
    require(data != nullptr, operation, {name, "data"}, "null", "a pointer to its elements");
    require(is_aligned(data, alignof(T)), operation, {name, "data"}, address_of(data),
            "a multiple of {} bytes", alignof(T));
}

/// Whether the bytes of rows * row_stride + cols * col_stride elements fit 63 bits.
inline bool is_addressable(std::int64_t rows, std::int64_t row_stride, std::int64_t cols,
                           std::int64_t col_stride, std::size_t element_bytes) {
    std::int64_t down = 0, across = 0, bytes = 0;
    return !__builtin_mul_overflow(rows, row_stride, &down) &&
           !__builtin_mul_overflow(cols, col_stride, &across) &&
           !__builtin_add_overflow(down, across, &bytes) &&
           !__builtin_mul_overflow(bytes, static_cast<std::int64_t>(element_bytes), &bytes);
}

/// Checks that the last element's offset in bytes fits 63 bits, so that no index into the view overflows. The error
/// names an extent if dense elements would not fit, and otherwise the stride that is too large.
inline void validate_bytes(const char* operation, const char* name, const dimension& rows,
                           const dimension& cols, std::size_t element_bytes) {
    if (is_addressable(rows.extent, rows.stride, cols.extent, cols.stride, element_bytes)) return;
    const auto fits = [&](std::int64_t count, std::int64_t stride) {
        return is_addressable(count, stride, 0, 0, element_bytes);
    };
    const bool is_row_short = fits(cols.extent, 1);
    const dimension& longer = is_row_short ? rows : cols;
    require(is_row_short && fits(rows.extent, std::max<std::int64_t>(cols.extent, 1)), operation,
            {name, longer.extent_name}, longer.extent, "an extent whose bytes fit 63 bits");
    const bool is_down =
        !fits(rows.extent, rows.stride) || (fits(cols.extent, cols.stride) && rows.stride > cols.stride);
    const dimension& apart = is_down ? rows : cols;
    require(false, operation, {name, apart.stride_name}, apart.stride, "a stride whose bytes fit 63 bits");
}

template <class T>
void validate(const char* operation, const char* name, const vector_view<T>& v, bool have_elements = true) {
    require(v.size >= 0, operation, {name, "size"}, v.size, "zero or more");
    require(v.size <= 1 || v.stride >= 1, operation, {name, "stride"}, v.stride, "one or more");
    validate_bytes(operation, name, {v.size, v.stride, "size", "stride"}, {0, 0, "", ""}, sizeof(T));
    if (v.size > 0 && have_elements) validate_pointer(operation, name, v.data);
}

/// Checks that no two elements share an address: one dimension's stride must be at least the span of the other.
template <class T>
void validate_layout(const char* operation, const char* name, const matrix_view<T>& m) {
    require(m.rows >= 0, operation, {name, "rows"}, m.rows, "zero or more");
    require(m.cols >= 0, operation, {name, "cols"}, m.cols, "zero or more");
    validate_bytes(operation, name, {m.rows, m.row_stride, "rows", "row_stride"},
                   {m.cols, m.col_stride, "cols", "col_stride"}, sizeof(T));
    if (m.rows == 0 || m.cols == 0) return;
    require(m.cols == 1 || m.col_stride >= 1, operation, {name, "col_stride"}, m.col_stride, "one or more");
    if (m.rows > 1) {
        const std::int64_t row = (m.cols - 1) * m.col_stride + 1;
        const bool steps_over_row = m.row_stride >= row;
        const bool steps_over_column =
            m.row_stride >= 1 && m.cols > 1 && m.col_stride >= (m.rows - 1) * m.row_stride + 1;
        require(steps_over_row || steps_over_column, operation, {name, "row_stride"}, m.row_stride,
                "at least {} (a row), or a col_stride of at least a column", row);
    }
}

template <class T>
void validate(const char* operation, const char* name, const matrix_view<T>& m, bool have_elements = true) {
    validate_layout(operation, name, m);
    if (m.rows > 0 && m.cols > 0 && have_elements) validate_pointer(operation, name, m.data);
}

/// Whether the caller gave this optional view.
template <class T>
bool is_given(const matrix_view<T>& m) {
    return m.rows != 0 || m.cols != 0;
}

/// Checks that `written` shares no byte with `other`.
template <class Written, class Other>
void validate_disjoint(const char* operation, const char* name, const Written& written,
                       const char* other_name, const Other& other) {
    require(!overlap(footprint_of(written), footprint_of(other)), operation, name,
            "a view that overlaps an operand", "memory apart from {}", other_name);
}

/// Checks that the bytes of a batch fit 63 bits. It has `count` views, `stride` elements apart. A view has at most
/// `span` elements from its first to its last, with gaps.
inline void validate_batch_bytes(const char* operation, const char* name, std::int64_t count,
                                 std::int64_t stride, std::int64_t span, std::size_t element_bytes) {
    if (is_addressable(count, stride, 1, span, element_bytes)) return;
    require(is_addressable(count, 1, 0, 0, element_bytes), operation, {name, "count"}, count,
            "an extent whose bytes fit 63 bits");
    require(false, operation, {name, "stride"}, stride, "a stride whose bytes fit 63 bits");
}

/// Checks the device that a function of a problem takes.
inline void validate_device(const char* operation, const device_traits& device) {
    require(device.sm_count >= 1, operation, {"device", "sm_count"}, device.sm_count, "one or more");
}

/// More elements than a device can address, but few enough that computations with a problem's extents do not overflow.
inline constexpr std::int64_t max_problem_elements = std::int64_t{1} << 58;

struct extent {
    const char* name;
    std::int64_t value;
};

/// Checks the extents of a problem. Their product must be at most max_problem_elements.
inline void validate_extents(const char* operation, std::initializer_list<extent> extents) {
    for (const extent& e : extents)
        require(e.value >= 0, operation, {"problem", e.name}, e.value, "zero or more");
    std::int64_t elements = 1;
    for (const extent& e : extents)
        require(!__builtin_mul_overflow(elements, std::max<std::int64_t>(e.value, 1), &elements) &&
                    elements <= max_problem_elements,
                operation, {"problem", e.name}, e.value,
                "a problem that is not too large: of at most {} elements", max_problem_elements);
}

/// Checks an offset, which is an address modulo 256.
inline void validate_offset(const char* operation, const char* name, std::int64_t offset) {
    require(offset >= 0 && offset < 256, operation, {"problem", name}, offset, "0 to 255");
}

/// Checks the layout of a problem's matrix, so that computations with it do not overflow.
inline void validate_reach(const char* operation, const matrix_layout& m) {
    validate_bytes(operation, "problem", {m.rows, m.row_stride, "rows", "row_stride"},
                   {m.cols, m.col_stride, "cols", "col_stride"}, static_cast<std::size_t>(m.element_bytes));
    validate_offset(operation, "offset", m.offset);
}

/// Checks that two vectors of a problem have one size and element size, and that their offsets are valid.
inline void validate_vectors(const char* operation, const vector_layout& x, const vector_layout& y) {
    validate_extents(operation, {{"size", x.size}});
    require(x.size == y.size && x.element_bytes == y.element_bytes, operation, "problem",
            "one of operands that disagree", "one that a _problem_of() makes");
    validate_offset(operation, "x.offset", x.offset);
    validate_offset(operation, "y.offset", y.offset);
}

}  // namespace heddle::detail
