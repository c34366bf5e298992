#pragma once

#include <heddle/tensor.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// `count` images of `channels` planes of `height` rows of `width` values (NCHW). Value (n, c, y, x) is at
/// data[n * image_stride + c * channel_stride + y * row_stride + x]. Strides are in elements; the default is dense.
/// Each stride is at least the extent that it steps over.
template <class T>
struct planes_view {
    T* data = nullptr;
    std::int64_t count = 0;
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t row_stride = width;
    std::int64_t channel_stride = height * row_stride;
    std::int64_t image_stride = channels * channel_stride;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator planes_view<const U>() const {
        return {data, count, channels, height, width, row_stride, channel_stride, image_stride};
    }
};

template <class T, std::convertible_to<std::int64_t>... Strides>
planes_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Strides...) -> planes_view<T>;

/// destination(n, y, x, c) = source(n, c, y, x): from planes to interleaved channels, bit for bit.
///
/// The views are of float, half or bfloat16 in device memory, with equal count, channels, height and width. They have any
/// address and any strides that give each element its own. The views may not overlap. There is one launch; where
/// rows have gaps, one for each image or one for each row of all images, whichever are fewer. The call is enqueued on
/// `stream` and its device. It never synchronises or allocates, and is safe under stream capture. Empty views do
/// nothing.
///
/// @throws invalid_argument  extents disagree or are negative, view strides by which elements share an address, a
///                           null or misaligned pointer, an overlap (nothing is enqueued)
/// @throws cuda_error        a launch failed
template <class T>
void to_nhwc(planes_view<const std::type_identity_t<T>> source, tensor_view<T> destination,
             cuda::stream_ref stream);

/// destination(n, c, y, x) = source(n, y, x, c): the inverse of to_nhwc(). All else is as for to_nhwc().
template <class T>
void to_nchw(tensor_view<const std::type_identity_t<T>> source, planes_view<T> destination,
             cuda::stream_ref stream);

}  // namespace heddle

#pragma GCC visibility pop
