#pragma once

#include <heddle/view.hpp>

#include <concepts>
#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle {

/// `count` images of `height` rows of `width` pixels of `channels` contiguous values (NHWC). Value (n, y, x, c) is at
/// data[n * image_stride + y * row_stride + x * col_stride + c]. Strides are in elements; the default is dense. Each
/// stride is at least the extent that it steps over.
template <class T>
struct tensor_view {
    T* data = nullptr;
    std::int64_t count = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;
    std::int64_t col_stride = channels;
    std::int64_t row_stride = width * col_stride;
    std::int64_t image_stride = height * row_stride;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator tensor_view<const U>() const {
        return {data, count, height, width, channels, col_stride, row_stride, image_stride};
    }
};

template <class T, std::convertible_to<std::int64_t>... Strides>
tensor_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Strides...) -> tensor_view<T>;

/// The filters of a convolution, K x R x S x C: one filter for each of `outputs` channels. A filter has `height` rows
/// of `width` taps of `channels` contiguous values, as many as a group of the input has channels. Value (k, r, s, c)
/// is at data[k * output_stride + r * row_stride + s * col_stride + c].
template <class T>
struct filter_view {
    T* data = nullptr;
    std::int64_t outputs = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;
    std::int64_t col_stride = channels;
    std::int64_t row_stride = width * col_stride;
    std::int64_t output_stride = height * row_stride;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator filter_view<const U>() const {
        return {data, outputs, height, width, channels, col_stride, row_stride, output_stride};
    }
};

template <class T, std::convertible_to<std::int64_t>... Strides>
filter_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Strides...) -> filter_view<T>;

/// The extents, strides and alignment of a tensor, of filters or of a batch of images, without their memory. For filters,
/// the count is that of their outputs. layout_of() makes it.
struct tensor_layout {
    std::int64_t count = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;
    std::int64_t col_stride = channels;
    std::int64_t row_stride = width * col_stride;
    std::int64_t image_stride = height * row_stride;
    std::int64_t element_bytes = 4;
    /// The first element's address, modulo 256.
    std::int64_t offset = 0;

    /// The largest power of two, up to 256, that divides the first element's address.
    constexpr std::int64_t alignment() const { return detail::alignment_at(offset); }
    bool operator==(const tensor_layout&) const = default;
};

/// The layout of a view's elements. They are not read.
template <class T>
tensor_layout layout_of(const tensor_view<T>& t) {
    return {t.count,        t.height,     t.width,
            t.channels,     t.col_stride, t.row_stride,
            t.image_stride, sizeof(T),    detail::offset_of(t.data)};
}
template <class T>
tensor_layout layout_of(const filter_view<T>& f) {
    return layout_of(tensor_view<T>{f.data, f.outputs, f.height, f.width, f.channels, f.col_stride,
                                    f.row_stride, f.output_stride});
}
template <class T>
tensor_layout layout_of(const image_batch_view<T>& images) {
    const image_view<T>& first = images.first;
    return layout_of(tensor_view<T>{first.data, images.count, first.height, first.width, first.channels,
                                    first.channels, first.row_stride, images.stride});
}

}  // namespace heddle

#pragma GCC visibility pop
