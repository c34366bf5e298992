#pragma once

#include <heddle/tensor.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace heddle {

/// `count` images, each a plane of `height` rows of `width` values for each of `channels` (NCHW): value (n, c, y, x) is at
/// data[n * image_stride + c * channel_stride + y * row_stride + x]. Strides are in elements; the default is dense. Each steps
/// over all that lies within it.
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

template <class T>
planes_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t) -> planes_view<T>;
template <class T>
planes_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t) -> planes_view<T>;
template <class T>
planes_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t)
    -> planes_view<T>;
template <class T>
planes_view(T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
            std::int64_t) -> planes_view<T>;

/// destination(n, y, x, c) = source(n, c, y, x): planes of channels become pixels of channels, every bit as it was.
///
/// Views of float, half or bfloat16 in device memory, of the same count, channels, height and width, at any address and with
/// any strides that keep their elements apart. They may not overlap. One launch; where rows have gaps, one for each image or one
/// for each row of all images, whichever are fewer. Enqueued on `stream` and its device; never synchronises, never allocates;
/// safe under stream capture. Empty views do nothing.
///
/// @throws invalid_argument  extents disagree or are negative, view strides that let elements share an address, a null or
///                           misaligned pointer, an overlap (nothing is enqueued)
/// @throws cuda_error        a launch failed
template <class T>
void to_nhwc(planes_view<const std::type_identity_t<T>> source, tensor_view<T> destination,
             cuda::stream_ref stream);

/// destination(n, c, y, x) = source(n, y, x, c): the way back. All else as of to_nhwc().
template <class T>
void to_nchw(tensor_view<const std::type_identity_t<T>> source, planes_view<T> destination,
             cuda::stream_ref stream);

}  // namespace heddle
