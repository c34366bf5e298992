#include "kernels/device/math.hpp"
#include "kernels/transpose/launch.hpp"
#include "src/transpose/validate_planes.hpp"
#include <heddle/planes.hpp>
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

using detail::word_of;

/// Replaces the strides of dimensions with one element by those of a dense tensor.
template <class View>
View normalised(View view, std::int64_t row, std::int64_t image) {
    if (view.height == 1) view.row_stride = row;
    if (view.count == 1) view.image_stride = image;
    return view;
}

/// The largest power of two, up to 16, that divides the address of every line. Lines are multiples of `steps` apart.
template <class T>
int alignment_of(const T* data, std::initializer_list<std::int64_t> steps) {
    auto bits = reinterpret_cast<std::uintptr_t>(data);
    for (const std::int64_t step : steps) bits |= static_cast<std::uint64_t>(step) * sizeof(T);
    return kernels::common_alignment(bits);
}

/// A batch's source or destination. `line` and `next` are the strides of lines and of matrices, in elements.
template <class T>
struct side {
    T* data;
    std::int64_t line;
    std::int64_t next;
};

/// to(j, i) = from(i, j) for each matrix of a batch. Those of `from` have rows x cols elements.
template <class T>
void transpose_all(std::int64_t count, std::int64_t rows, std::int64_t cols, const side<const T>& from,
                   const side<T>& to, const device_traits& device, cudaStream_t stream) {
    using word = word_of<T>;
    const kernels::transpose::transpose_facts facts{
        .rows = rows,
        .cols = cols,
        .element_bytes = sizeof(T),
        .alignment = std::min(alignment_of(from.data, {from.line, from.next}),
                              alignment_of(to.data, {to.line, to.next}))};
    const auto plan = kernels::transpose::plan_batch(facts, count, device);
    kernels::transpose::launch_batch<word>(plan,
                                           {{reinterpret_cast<const word*>(from.data), rows, cols, from.line},
                                            {reinterpret_cast<word*>(to.data), cols, rows, to.line}},
                                           {count, from.next, to.next}, stream);
}

/// Splits the images into batches of matrices of channels x pixels. A matrix is a whole image if rows have no gaps,
/// else a row. Calls function(count, pixels, planes offset, tensor offset, planes stride, tensor stride) per batch.
template <class P, class T, class Function>
void for_each_batch(const P& planes, const T& pixels, const Function& function) {
    const std::int64_t height = pixels.height, width = pixels.width, count = pixels.count;
    const bool is_whole = planes.row_stride == width && pixels.row_stride == width * pixels.col_stride;
    if (is_whole) return function(count, height * width, 0, 0, planes.image_stride, pixels.image_stride);
    if (count <= height) {
        for (std::int64_t n = 0; n < count; ++n)
            function(height, width, n * planes.image_stride, n * pixels.image_stride, planes.row_stride,
                     pixels.row_stride);
    } else {
        for (std::int64_t y = 0; y < height; ++y)
            function(count, width, y * planes.row_stride, y * pixels.row_stride, planes.image_stride,
                     pixels.image_stride);
    }
}

template <class View>
bool is_empty_view(const View& view) {
    return view.count == 0 || view.channels == 0 || view.height == 0 || view.width == 0;
}

template <class T>
planes_view<T> normalised(const planes_view<T>& p) {
    return normalised(p, p.width, p.channels * p.channel_stride);
}
template <class T>
tensor_view<T> normalised(tensor_view<T> t) {
    if (t.width == 1) t.col_stride = t.height == 1 ? t.channels : t.row_stride;
    return normalised(t, t.width * t.col_stride, t.height * t.row_stride);
}

}  // namespace

template <class T>
void to_nhwc(planes_view<const std::type_identity_t<T>> source, tensor_view<T> destination,
             cuda::stream_ref stream) {
    detail::validate_to_nhwc<T>("to_nhwc", source, destination);
    if (is_empty_view(destination)) return;
    const detail::stream_device device(stream);
    const auto from = normalised(source);
    const auto to = normalised(destination);
    for_each_batch(
        from, to,
        [&](auto count, auto pixels, auto of_planes, auto of_pixels, auto next_planes, auto next_pixels) {
            transpose_all<T>(
                count, to.channels, pixels, {from.data + of_planes, from.channel_stride, next_planes},
                {to.data + of_pixels, to.col_stride, next_pixels}, device.traits(), stream.get());
        });
}

template <class T>
void to_nchw(tensor_view<const std::type_identity_t<T>> source, planes_view<T> destination,
             cuda::stream_ref stream) {
    detail::validate_to_nchw<T>("to_nchw", source, destination);
    if (is_empty_view(destination)) return;
    const detail::stream_device device(stream);
    const auto from = normalised(source);
    const auto to = normalised(destination);
    for_each_batch(
        to, from,
        [&](auto count, auto pixels, auto of_planes, auto of_pixels, auto next_planes, auto next_pixels) {
            transpose_all<T>(
                count, pixels, from.channels, {from.data + of_pixels, from.col_stride, next_pixels},
                {to.data + of_planes, to.channel_stride, next_planes}, device.traits(), stream.get());
        });
}

#define INSTANTIATE(T)                                                                \
    template void to_nhwc<T>(planes_view<const T>, tensor_view<T>, cuda::stream_ref); \
    template void to_nchw<T>(tensor_view<const T>, planes_view<T>, cuda::stream_ref);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
