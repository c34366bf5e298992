#pragma once

#include <concepts>
#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle {

/// `size` elements, `stride` elements apart. Non-owning; the operation says whether it is in host or device memory.
template <class T>
struct vector_view {
    T* data = nullptr;
    std::int64_t size = 0;
    std::int64_t stride = 1;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator vector_view<const U>() const {
        return {data, size, stride};
    }
};

template <class T, std::convertible_to<std::int64_t>... Strides>
vector_view(T*, std::int64_t, Strides...) -> vector_view<T>;

/// `rows` x `cols` elements. Element (i, j) is at data[i * row_stride + j * col_stride]. The default col_stride of 1
/// is row-major; transposed() makes a column-major view. Strides are in elements.
template <class T>
struct matrix_view {
    T* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t row_stride = cols;
    std::int64_t col_stride = 1;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator matrix_view<const U>() const {
        return {data, rows, cols, row_stride, col_stride};
    }
};

template <class T, std::convertible_to<std::int64_t>... Strides>
matrix_view(T*, std::int64_t, std::int64_t, Strides...) -> matrix_view<T>;

/// The same elements with rows and columns exchanged: no copy.
template <class T>
constexpr matrix_view<T> transposed(matrix_view<T> m) {
    return {m.data, m.cols, m.rows, m.col_stride, m.row_stride};
}

/// A matrix with `rows` rows, all of them `row`: its row_stride is 0. For inputs of elementwise operations.
template <class T>
constexpr matrix_view<const T> as_rows(vector_view<T> row, std::int64_t rows) {
    return {row.data, rows, row.size, 0, row.stride};
}
/// A matrix with `cols` columns, all of them `column`: its col_stride is 0.
template <class T>
constexpr matrix_view<const T> as_columns(vector_view<T> column, std::int64_t cols) {
    return {column.data, column.size, cols, column.stride, 0};
}

namespace detail {

inline std::int64_t offset_of(const void* data) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % 256);
}
constexpr std::int64_t alignment_at(std::int64_t offset) {
    return (offset | 256) & -(offset | 256);
}

}  // namespace detail

/// The size, stride and alignment of a vector, without its memory. layout_of() makes it.
struct vector_layout {
    std::int64_t size = 0;
    std::int64_t stride = 1;
    std::int64_t element_bytes = 4;
    /// The first element's address, modulo 256.
    std::int64_t offset = 0;

    /// The largest power of two, up to 256, that divides the first element's address.
    constexpr std::int64_t alignment() const { return detail::alignment_at(offset); }
    bool operator==(const vector_layout&) const = default;
};

/// The extents, strides and alignment of a matrix, without its memory. layout_of() makes it.
struct matrix_layout {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t row_stride = cols;
    std::int64_t col_stride = 1;
    std::int64_t element_bytes = 4;
    /// The first element's address, modulo 256.
    std::int64_t offset = 0;

    /// The largest power of two, up to 256, that divides the first element's address.
    constexpr std::int64_t alignment() const { return detail::alignment_at(offset); }
    bool operator==(const matrix_layout&) const = default;
};

/// The layout of a view's elements. They are not read.
template <class T>
vector_layout layout_of(const vector_view<T>& v) {
    return {v.size, v.stride, sizeof(T), detail::offset_of(v.data)};
}
template <class T>
matrix_layout layout_of(const matrix_view<T>& m) {
    return {m.rows, m.cols, m.row_stride, m.col_stride, sizeof(T), detail::offset_of(m.data)};
}

constexpr matrix_layout transposed(const matrix_layout& m) {
    return {m.cols, m.rows, m.col_stride, m.row_stride, m.element_bytes, m.offset};
}

/// `height` rows of `width` pixels of `channels` interleaved values. `row_stride` is in elements, not pixels or bytes.
template <class T>
struct image_view {
    T* data = nullptr;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 1;
    std::int64_t row_stride = width * channels;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator image_view<const U>() const {
        return {data, width, height, channels, row_stride};
    }
};

template <class T, std::convertible_to<std::int64_t>... Others>
image_view(T*, std::int64_t, std::int64_t, Others...) -> image_view<T>;

/// `count` images of one size and layout, each `stride` elements after the previous one.
template <class T>
struct image_batch_view {
    image_view<T> first;
    std::int64_t count = 1;
    std::int64_t stride = 0;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator image_batch_view<const U>() const {
        return {first, count, stride};
    }
};

template <class T>
image_batch_view(image_view<T>) -> image_batch_view<T>;
template <class T>
image_batch_view(image_view<T>, std::int64_t, std::int64_t) -> image_batch_view<T>;

/// An image whose channels are separate planes, one after another: a batch of images of one channel.
template <class T>
constexpr image_batch_view<T> planar(T* data, std::int64_t width, std::int64_t height, std::int64_t planes) {
    return {{data, width, height}, planes, width * height};
}

}  // namespace heddle

#pragma GCC visibility pop
