#pragma once

#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace heddle {
namespace detail {

/// One dimension of a view, with the names of its members for error messages.
struct dimension {
    std::int64_t extent;
    std::int64_t stride;
    const char* extent_name;
    const char* stride_name;
};

/// Any view as a matrix, the only form that copies and fills need.
template <class T>
struct block {
    T* data;
    dimension rows;
    dimension cols;
};

template <class T>
block<T> block_of(const matrix_view<T>& m) {
    return {
        m.data, {m.rows, m.row_stride, "rows", "row_stride"}, {m.cols, m.col_stride, "cols", "col_stride"}};
}

template <class T>
block<T> block_of(const image_view<T>& image) {
    dimension values{0, 1, "width * channels", "stride"};
    if (image.width < 0)
        values = {image.width, 1, "width", "stride"};
    else if (image.channels < 0)
        values = {image.channels, 1, "channels", "stride"};
    else if (__builtin_mul_overflow(image.width, image.channels, &values.extent))
        values.extent = std::numeric_limits<std::int64_t>::max();  // refused as too large
    return {image.data, {image.height, image.row_stride, "height", "row_stride"}, values};
}

template <class T>
block<T> block_of(const vector_view<T>& v) {
    return {v.data, {v.size, v.stride, "size", "stride"}, {1, 1, "cols", "col_stride"}};
}

template <class Range>
requires requires(Range& range) {
    { std::size(range) } -> std::convertible_to<std::size_t>;
}
auto block_of(Range& range) -> block<std::remove_pointer_t<decltype(std::data(range))>> {
    return block_of(vector_view{std::data(range), static_cast<std::int64_t>(std::size(range))});
}

template <class View>
using element_of = std::remove_pointer_t<decltype(block_of(std::declval<View&>()).data)>;

template <class Destination>
concept writable =
    std::is_trivially_copyable_v<element_of<Destination>> && !std::is_const_v<element_of<Destination>>;

template <class Source, class Destination>
concept copyable = writable<Destination> &&
    std::same_as<std::remove_const_t<element_of<const Source>>, element_of<Destination>>;

void copy(const block<const void>& source, const block<void>& destination, std::size_t element_bytes,
          cuda::stream_ref stream);
void fill(const block<void>& destination, std::size_t element_bytes, std::byte value,
          cuda::stream_ref stream);
void wait(cuda::stream_ref stream);

}  // namespace detail

/// Copies between any two places that the device of `stream` can reach: from host to device or back, or within either.
///
/// `source` and `destination` are contiguous ranges with data() and size() (std::vector, std::array, std::span,
/// heddle's buffers), or views with strides. They have equal extents and one trivially copyable element type. Both
/// matrices are row-major, or both are transposed. They must not overlap.
///
/// The copy is enqueued on `stream` and its device, and allocates nothing. Both operands must live until it is done. Pinned
/// host memory is copied asynchronously. The driver stages pageable host memory (std::vector), so the host may wait.
///
/// @throws invalid_argument  extents disagree, a null pointer, rows closer than their length, an overlap (nothing is
///                           enqueued)
/// @throws unsupported       one matrix is row-major and the other transposed (nothing is enqueued)
/// @throws cuda_error        the driver refused the copy
template <class Source, class Destination>
requires detail::copyable<Source, Destination>
void copy(const Source& source, Destination&& destination, cuda::stream_ref stream) {
    const auto from = detail::block_of(source);
    const auto to = detail::block_of(destination);
    // The types are named for nvcc 13.0, which loses them in .cu files.
    detail::copy(detail::block<const void>{from.data, from.rows, from.cols},
                 detail::block<void>{to.data, to.rows, to.cols}, sizeof(*to.data), stream);
}

/// copy(), after which the host waits until the copy and all earlier work on `stream` are done.
/// @throws cuda_error  also for failures of that work
template <class Source, class Destination>
requires detail::copyable<Source, Destination>
void copy_and_wait(const Source& source, Destination&& destination, cuda::stream_ref stream) {
    heddle::copy(source, destination, stream);  // not std::copy of a std::vector
    detail::wait(stream);
}

/// Sets every byte of the elements to `value`. The memory is device, managed or pinned. The call is enqueued on `stream`
/// and its device. Errors are those of copy().
template <class Destination>
requires detail::writable<Destination>
void fill_bytes(Destination&& destination, std::byte value, cuda::stream_ref stream) {
    const auto to = detail::block_of(destination);
    detail::fill(detail::block<void>{to.data, to.rows, to.cols}, sizeof(*to.data), value, stream);
}

/// Sets the elements to zero. All else is as for fill_bytes().
template <class Destination>
requires detail::writable<Destination>
void fill_zero(Destination&& destination, cuda::stream_ref stream) {
    heddle::fill_bytes(destination, std::byte{0}, stream);
}

}  // namespace heddle

#pragma GCC visibility pop
