#pragma once

#include <heddle/error.hpp>
#include <heddle/view.hpp>

#include <cuda/std/array>
#include <cuda/std/mdspan>

#include <cstddef>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

/// Conversions between views and mdspan, which share the elements: no copy. heddle.hpp does not include this header,
/// because <cuda/std/mdspan> adds seconds to the compilation of every file that includes it.
namespace heddle {

template <class T, std::size_t rank>
using strided_mdspan =
    cuda::std::mdspan<T, cuda::std::dextents<std::int64_t, rank>, cuda::std::layout_stride>;
template <class T, std::size_t rank>
using dense_mdspan = cuda::std::mdspan<T, cuda::std::dextents<std::int64_t, rank>, cuda::std::layout_right>;

namespace detail {

template <std::size_t rank>
using sizes = cuda::std::array<std::int64_t, rank>;

template <class T, std::size_t rank>
strided_mdspan<T, rank> make_mdspan(T* data, const sizes<rank>& extents, const sizes<rank>& strides) {
    using result = strided_mdspan<T, rank>;
    return {data, typename result::mapping_type(typename result::extents_type(extents), strides)};
}

inline void require_dense(bool is_dense, const char* argument, std::int64_t stride, const char* expected) {
    if (!is_dense) throw invalid_argument("dense_mdspan_of", argument, std::to_string(stride), expected);
}

}  // namespace detail

/// Indexed (i).
template <class T>
strided_mdspan<T, 1> mdspan_of(const vector_view<T>& v) {
    return detail::make_mdspan<T, 1>(v.data, {v.size}, {v.stride});
}

/// Indexed (row, col).
template <class T>
strided_mdspan<T, 2> mdspan_of(const matrix_view<T>& m) {
    return detail::make_mdspan<T, 2>(m.data, {m.rows, m.cols}, {m.row_stride, m.col_stride});
}

/// Indexed (y, x, channel).
template <class T>
strided_mdspan<T, 3> mdspan_of(const image_view<T>& image) {
    return detail::make_mdspan<T, 3>(image.data, {image.height, image.width, image.channels},
                                     {image.row_stride, image.channels, 1});
}

/// As mdspan_of(), with a layout that stores no strides.
/// @throws invalid_argument  v.stride is not 1
template <class T>
dense_mdspan<T, 1> dense_mdspan_of(const vector_view<T>& v) {
    detail::require_dense(v.size <= 1 || v.stride == 1, "v.stride", v.stride, "1");
    return {v.data, cuda::std::dextents<std::int64_t, 1>{v.size}};
}

/// @throws invalid_argument  m is transposed, or there are gaps between its rows
template <class T>
dense_mdspan<T, 2> dense_mdspan_of(const matrix_view<T>& m) {
    const bool is_empty = m.rows == 0 || m.cols == 0;
    detail::require_dense(is_empty || m.cols == 1 || m.col_stride == 1, "m.col_stride", m.col_stride, "1");
    detail::require_dense(is_empty || m.rows == 1 || m.row_stride == m.cols, "m.row_stride", m.row_stride,
                          "m.cols");
    return {m.data, cuda::std::dextents<std::int64_t, 2>{m.rows, m.cols}};
}

/// Any strided mdspan of one dimension: layout_right, layout_left or layout_stride.
template <class T, class Extents, class Layout>
requires(Extents::rank() == 1 && Layout::template mapping<Extents>::is_always_strided())
    vector_view<T> view_of(const cuda::std::mdspan<T, Extents, Layout>& span) {
    return {span.data_handle(), static_cast<std::int64_t>(span.extent(0)),
            static_cast<std::int64_t>(span.stride(0))};
}

/// Any strided mdspan of two dimensions. One of layout_left gives a transposed view.
template <class T, class Extents, class Layout>
requires(Extents::rank() == 2 && Layout::template mapping<Extents>::is_always_strided())
    matrix_view<T> view_of(const cuda::std::mdspan<T, Extents, Layout>& span) {
    return {span.data_handle(), static_cast<std::int64_t>(span.extent(0)),
            static_cast<std::int64_t>(span.extent(1)), static_cast<std::int64_t>(span.stride(0)),
            static_cast<std::int64_t>(span.stride(1))};
}

}  // namespace heddle

#pragma GCC visibility pop
