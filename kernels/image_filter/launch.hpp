#pragma once

#include <heddle/device.hpp>
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::image_filter {

enum class stencil { sobel_x, sobel_y, sobel_magnitude, laplacian };

/// Images none of whose extents is 0. The destination's pixel (0, 0) is the source's (x, y): the result of a
/// region.
template <class T>
struct arguments {
    image_filter::stencil stencil;
    image_batch_view<const T> source;
    image_batch_view<float> destination;
    std::int64_t x = 0;
    std::int64_t y = 0;
    heddle::border border;
    T border_value;
};

/// register_window counts the values of a row, the source's too, in 32 bits.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;

template <class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs rows of at most max_row_values.
template <class T>
void launch_register_window(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::image_filter
