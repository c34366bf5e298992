#pragma once

#include "src/require.hpp"
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

namespace heddle::detail {

/// A view as it lies in memory: `count` runs of `run` bytes, `stride` bytes from one to the next. All
/// elements, of `element` bytes, lie at multiples of `period` bytes from the first.
struct footprint {
    std::uintptr_t begin = 0;
    std::uintptr_t run = 0;
    std::uintptr_t count = 0;
    std::uintptr_t stride = 0;
    std::uintptr_t element = 1;
    std::uintptr_t period = 1;

    constexpr bool empty() const { return run == 0 || count == 0; }
    constexpr std::uintptr_t end() const { return begin + (count - 1) * stride + run; }
};

/// Whether two views share a byte. Tells apart views that interleave: column ranges of one matrix, as their
/// runs have one stride, and planes such as real and imaginary parts. Of others that lie in one range it says
/// that they overlap.
constexpr bool overlap(const footprint& a, const footprint& b) {
    if (a.empty() || b.empty() || a.end() <= b.begin || b.end() <= a.begin) return false;
    const footprint& low = a.begin <= b.begin ? a : b;
    const footprint& high = a.begin <= b.begin ? b : a;
    if (const std::uintptr_t period = std::gcd(a.period, b.period); period > 0) {
        const std::uintptr_t offset = (high.begin - low.begin) % period;
        if (offset >= low.element && offset + high.element <= period) return false;
    }
    if (a.stride != b.stride || a.stride == 0) return true;
    const std::uintptr_t rows_down = (high.begin - low.begin) / low.stride;
    const std::uintptr_t offset = (high.begin - low.begin) % low.stride;
    const bool same_run = offset < low.run && rows_down < low.count;
    const bool next_run = offset + high.run > low.stride && rows_down + 1 < low.count;
    return same_run || next_run;
}

/// A dimension of one element has a stride that nothing uses.
template <class T>
constexpr bool is_row_major(const matrix_view<T>& m) {
    return m.rows <= 1 || m.cols <= 1 || m.col_stride <= m.row_stride;
}

template <class T>
footprint footprint_of(const matrix_view<T>& m) {
    const bool is_row_with_gaps = m.rows == 1 && m.cols > 1 && m.col_stride > 1;
    if (!is_row_major(m) || is_row_with_gaps) return footprint_of(transposed(m));
    if (m.rows == 0 || m.cols == 0) return {};
    const auto bytes = [](std::int64_t n) { return static_cast<std::uintptr_t>(n) * sizeof(T); };
    const std::int64_t run = m.cols > 1 ? (m.cols - 1) * m.col_stride + 1 : 1;
    // A single row may have any stride, also one that is shorter than the row.
    const std::int64_t stride = m.rows > 1 ? m.row_stride : std::max(m.row_stride, run);
    const std::int64_t period = std::gcd(m.cols > 1 ? m.col_stride : 0, m.rows > 1 ? m.row_stride : 0);
    return {reinterpret_cast<std::uintptr_t>(m.data),
            bytes(run),
            static_cast<std::uintptr_t>(m.rows),
            bytes(stride),
            sizeof(T),
            bytes(period)};
}

template <class T>
footprint footprint_of(const image_view<T>& image) {
    return footprint_of(
        matrix_view<T>{image.data, image.height, image.width * image.channels, image.row_stride});
}

/// Where rows of all images stand side by side: the elements of such a row.
template <class T>
constexpr std::int64_t row_of_all(const image_batch_view<T>& batch) {
    return (batch.count - 1) * batch.stride + batch.first.width * batch.first.channels;
}
template <class T>
constexpr std::int64_t span_of(const image_view<T>& image) {
    return (image.height - 1) * image.row_stride + image.width * image.channels;
}

/// Images whose rows stand side by side, or in the rows of one taller image; of others, all from the first byte
/// to the last.
template <class T>
footprint footprint_of(const image_batch_view<T>& batch) {
    const image_view<T>& first = batch.first;
    if (batch.count == 0 || first.width == 0 || first.height == 0) return {};
    if (batch.count == 1 || batch.stride == 0) return footprint_of(first);
    const auto rows = [&](std::int64_t count, std::int64_t size) {
        return footprint_of(matrix_view<T>{first.data, count, size, first.row_stride});
    };
    if (first.height > 1) {
        if (row_of_all(batch) <= first.row_stride) return rows(first.height, row_of_all(batch));
        if (batch.stride % first.row_stride == 0)
            return rows((batch.count - 1) * (batch.stride / first.row_stride) + first.height,
                        first.width * first.channels);
    }
    return footprint_of(matrix_view<T>{first.data, 1, (batch.count - 1) * batch.stride + span_of(first)});
}

template <class T>
void validate_pointer(const char* operation, const char* name, const T* data) {
    require(data != nullptr, operation, {name, "data"}, "null", "a pointer to its elements");
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    require(address % alignof(T) == 0, operation, {name, "data"}, address, "a multiple of {} bytes",
            alignof(T));
}

/// The last element's offset in bytes must fit; then no index computed from the view overflows.
template <class T>
bool is_addressable(std::int64_t rows, std::int64_t row_stride, std::int64_t cols, std::int64_t col_stride) {
    std::int64_t down = 0, across = 0, bytes = 0;
    return !__builtin_mul_overflow(rows, row_stride, &down) &&
           !__builtin_mul_overflow(cols, col_stride, &across) &&
           !__builtin_add_overflow(down, across, &bytes) &&
           !__builtin_mul_overflow(bytes, static_cast<std::int64_t>(sizeof(T)), &bytes);
}

template <class T>
void validate(const char* operation, const char* name, const vector_view<T>& v) {
    require(v.size >= 0, operation, {name, "size"}, v.size, "zero or more");
    require(v.size <= 1 || v.stride >= 1, operation, {name, "stride"}, v.stride, "one or more");
    require(is_addressable<T>(v.size, v.stride, 0, 0), operation, {name, "size"}, v.size,
            "an extent whose bytes fit 63 bits");
    if (v.size > 0) validate_pointer(operation, name, v.data);
}

/// No two elements may share an address: the stride of one dimension must step over all of the other.
template <class T>
void validate(const char* operation, const char* name, const matrix_view<T>& m) {
    require(m.rows >= 0, operation, {name, "rows"}, m.rows, "zero or more");
    require(m.cols >= 0, operation, {name, "cols"}, m.cols, "zero or more");
    require(is_addressable<T>(m.rows, m.row_stride, m.cols, m.col_stride), operation, {name, "rows"}, m.rows,
            "extents and strides whose bytes fit 63 bits");
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
    validate_pointer(operation, name, m.data);
}

template <class T>
void validate_layout(const char* operation, const char* name, const image_view<T>& image) {
    require(image.width >= 0, operation, {name, "width"}, image.width, "zero or more");
    require(image.height >= 0, operation, {name, "height"}, image.height, "zero or more");
    require(image.channels >= 1 && image.channels <= 4, operation, {name, "channels"}, image.channels,
            "1 to 4");
    require(is_addressable<T>(image.height, image.row_stride, image.width, image.channels), operation,
            {name, "height"}, image.height, "extents whose bytes fit 63 bits");
    const std::int64_t row = image.width * image.channels;
    require(image.height <= 1 || image.row_stride >= row, operation, {name, "row_stride"}, image.row_stride,
            "at least {} (width * channels)", row);
}

template <class T>
void validate(const char* operation, const char* name, const image_view<T>& image) {
    validate_layout(operation, name, image);
    if (image.width > 0 && image.height > 0) validate_pointer(operation, name, image.data);
}

template <class T>
void validate(const char* operation, const char* name, const image_batch_view<T>& batch) {
    validate_layout(operation, name, batch.first);
    require(batch.count >= 0, operation, {name, "count"}, batch.count, "zero or more");
    require(batch.count <= 1 || batch.stride >= 0, operation, {name, "stride"}, batch.stride, "zero or more");
    const image_view<T>& first = batch.first;
    const std::int64_t image = first.height * first.row_stride + first.width * first.channels;
    std::int64_t images = 0, elements = 0, bytes = 0;
    require(!__builtin_mul_overflow(batch.count, batch.stride, &images) &&
                !__builtin_add_overflow(images, image, &elements) &&
                !__builtin_mul_overflow(elements, static_cast<std::int64_t>(sizeof(T)), &bytes),
            operation, {name, "count"}, batch.count, "images whose bytes fit 63 bits");
    if (batch.count > 0) validate(operation, name, first);
}

/// Checks images that are written: no two may share an element. They lie one after another, or their rows side by
/// side.
template <class T>
void validate_apart(const char* operation, const char* name, const image_batch_view<T>& batch) {
    const image_view<T>& first = batch.first;
    if (batch.count <= 1 || first.width == 0 || first.height == 0) return;
    const bool steps_over_row = batch.stride >= first.width * first.channels;
    const bool is_side_by_side = first.height > 1 && row_of_all(batch) <= first.row_stride;
    require(batch.stride >= span_of(first) || (steps_over_row && is_side_by_side), operation,
            {name, "stride"}, batch.stride, "at least {} (an image)", span_of(first));
}

}  // namespace heddle::detail
