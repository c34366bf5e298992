#pragma once

#include "kernels/conv/launch.hpp"
#include "kernels/device/index_division.cuh"

#include <cstdint>

/// The convolution as a matrix product, which all rungs share. Row i of A belongs to output pixel i, and column j to a tap
/// and a channel of a filter. Element (i, j) is an input value, or a zero of the padding. The filters are the rows of B.
namespace heddle::kernels::conv {

/// An output pixel.
struct pixel_place {
    std::int64_t image, y, x;
};

/// A tap of a filter, and a channel of a group.
struct tap_place {
    std::int64_t r, s, channel;
};

/// The part of the input under the filter for one output pixel, given by its first pixel, which may lie in the padding.
template <class In>
struct window {
    const In* image;  ///< first channel of the group
    std::int64_t y, x;
};

struct geometry {
    std::int64_t pixels;  ///< rows of A
    std::int64_t depth;   ///< columns of A
    std::int64_t outputs_of_a_group;
    index_division by_height, by_width;   ///< of output images
    index_division by_taps, by_channels;  ///< taps in a row of a filter; channels of a tap

    template <class In, class Out, class Activation>
    __host__ explicit geometry(const arguments<In, Out, Activation>& a)
        : pixels(a.output.count * a.output.height * a.output.width),
          depth(a.filters.height * a.filters.width * a.filters.channels),
          outputs_of_a_group(a.filters.outputs / a.geometry.groups),
          by_height(a.output.height, a.output.count * a.output.height),
          by_width(a.output.width, pixels),
          by_taps(a.filters.width, a.filters.height * a.filters.width),
          by_channels(a.filters.channels, depth) {}

    __device__ pixel_place place_of_pixel(std::int64_t i) const {
        const std::int64_t row = by_width.quotient(i), image = by_height.quotient(row);
        return {image, row - image * by_height.divisor, i - row * by_width.divisor};
    }
    __device__ tap_place place_of_tap(std::int64_t j) const {
        const std::int64_t tap = by_channels.quotient(j), r = by_taps.quotient(tap);
        return {r, tap - r * by_taps.divisor, j - tap * by_channels.divisor};
    }
};

template <class In, class Out, class Activation>
__device__ window<In> window_of(const arguments<In, Out, Activation>& a, const pixel_place& at,
                                std::int64_t group) {
    return {a.input.data + at.image * a.input.image_stride + group * a.filters.channels,
            at.y * a.geometry.stride.y - a.geometry.padding.top,
            at.x * a.geometry.stride.x - a.geometry.padding.left};
}

template <class In, class Out, class Activation>
__device__ float input_value(const arguments<In, Out, Activation>& a, const window<In>& from,
                             const tap_place& at) {
    const std::int64_t y = from.y + at.r * a.geometry.dilation.y, x = from.x + at.s * a.geometry.dilation.x;
    if (y < 0 || y >= a.input.height || x < 0 || x >= a.input.width) return 0;
    return static_cast<float>(from.image[y * a.input.row_stride + x * a.input.col_stride + at.channel]);
}

/// `filter` points to the first element of the output's filter.
template <class In, class Out, class Activation>
__device__ float filter_value(const arguments<In, Out, Activation>& a, const In* filter,
                              const tap_place& at) {
    return static_cast<float>(filter[at.r * a.filters.row_stride + at.s * a.filters.col_stride + at.channel]);
}

}  // namespace heddle::kernels::conv
