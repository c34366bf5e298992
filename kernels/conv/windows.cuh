#pragma once

#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/windows.hpp"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/device/tensor_map.hpp"
#include "kernels/device/warpgroup_tile.cuh"

#include <cstdint>
#include <type_traits>

/// Tiles of windows and of filters as operands of wgmma, which the tensor memory accelerator loads into shared memory.
namespace heddle::kernels::conv {

/// Loads round floats to TF32; wgmma itself would truncate them.
template <class In>
inline constexpr CUtensorMapDataType operand_map_type =
    std::is_same_v<In, float> ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : tensor_map_type<In>;

/// A convolution whose windows a tensor map describes. A step along k is one tap, and 128 bytes of the group's channels.
struct window_steps {
    CUtensorMap windows;                ///< or pixels, if each pixel is a window
    CUtensorMap filters;                ///< boxes of channels by outputs, one tap each
    wide_division by_height, by_width;  ///< of the output
    wide_division by_taps, by_packets;  ///< taps in a row of a filter; steps of a tap
    wide_division by_outputs;           ///< of a group
    int channels;                       ///< of a group
    bool are_pixels;
    int step_x, step_y, left, top, right_of_tap, down_of_tap;

    /// Prepares loads of tiles of `tile_m` pixels and `tile_n` outputs.
    template <class In, class Out, class Activation>
    __host__ window_steps(const arguments<In, Out, Activation>& a, int tile_m, int tile_n)
        : windows(windows_are_pixels(a)
                      ? pixel_map(a, tile_m)
                      : make_window_map(a.input.data, window_map_of(a, tile_m), operand_map_type<In>)),
          filters(make_tensor_map(a.filters.data, a.filters.outputs, a.filters.channels,
                                  a.filters.output_stride, tile_n, step_of<In>,
                                  a.filters.height * a.filters.width, stride_of_taps(a.filters),
                                  operand_map_type<In>)),
          by_height(divisor(a.output.height)),
          by_width(divisor(a.output.width)),
          by_taps(divisor(a.filters.width)),
          by_packets(divisor(steps_of_tap(a.filters))),
          by_outputs(divisor(a.filters.outputs / a.geometry.groups)),
          channels(narrow(a.filters.channels)),
          are_pixels(windows_are_pixels(a)),
          step_x(narrow(a.geometry.stride.x)),
          step_y(narrow(a.geometry.stride.y)),
          left(narrow(a.geometry.padding.left)),
          top(narrow(a.geometry.padding.top)),
          right_of_tap(narrow(a.geometry.dilation.x)),
          down_of_tap(narrow(a.geometry.dilation.y)) {}

    template <class T>
    static int steps_of(const filter_view<T>& f) {
        return narrow(f.height * f.width * steps_of_tap(f));
    }

    /// One thread loads the windows of the pixels from `pixel` on, as a Tile.
    template <class Tile>
    __device__ void load_windows(unsigned char* to, int pixel, int output, int step,
                                 ptx::mbarrier* full) const {
        if (are_pixels) {
            const int channel = step * Tile::depth;
            return Tile::template load<1>(to, windows, pixel, channel, 0, 0, full);
        }
        const int line = quotient(pixel, by_width), image = quotient(line, by_height);
        const int x = pixel - product(line, by_width), y = line - product(image, by_height);
        const int tap = quotient(step, by_packets), r = quotient(tap, by_taps);
        const int s = tap - product(r, by_taps);
        const int channel = channel_of<Tile>(step, tap) + quotient(output, by_outputs) * channels;
        ptx::load_windows(to, windows, channel, x * step_x - left, y * step_y - top, image, s * right_of_tap,
                          r * down_of_tap, full);
    }

    /// One thread loads the filters of the outputs from `output` on.
    template <class Tile>
    __device__ void load_filters(unsigned char* to, int output, int step, ptx::mbarrier* full) const {
        const int tap = quotient(step, by_packets);
        Tile::template load<1>(to, filters, output, channel_of<Tile>(step, tap), tap, 0, full);
    }

  private:
    static __host__ __device__ int narrow(std::int64_t n) { return static_cast<int>(n); }
    static std::uint32_t divisor(std::int64_t n) { return static_cast<std::uint32_t>(n); }
    static __device__ int quotient(int n, const wide_division& by) {
        return static_cast<int>(by.quotient(static_cast<std::uint32_t>(n)));
    }
    static __device__ int product(int n, const wide_division& by) { return n * static_cast<int>(by.divisor); }
    template <class T>
    static constexpr int step_of = static_cast<int>(step_channels(sizeof(T)));  ///< in channels
    template <class T>
    static std::int64_t steps_of_tap(const filter_view<T>& f) {
        return (f.channels - 1) / step_of<T> + 1;
    }
    template <class Tile>
    __device__ int channel_of(int step, int tap) const {
        return (step - product(tap, by_packets)) * Tile::depth;
    }

    template <class T>
    static std::int64_t stride_of_taps(const filter_view<T>& f) {
        return f.width > 1 ? f.col_stride : f.height > 1 ? f.row_stride : 0;
    }

    /// Whether the filters have one tap that meets all pixels in order, and pixels lie like the rows of a matrix.
    template <class In, class Out, class Activation>
    static bool windows_are_pixels(const arguments<In, Out, Activation>& a) {
        const conv_geometry& g = a.geometry;
        return a.filters.height == 1 && a.filters.width == 1 && g.groups == 1 && g.stride == conv_steps{} &&
               g.padding == conv_padding{} && is_matrix(layout_of(a.input));
    }
    template <class In, class Out, class Activation>
    static CUtensorMap pixel_map(const arguments<In, Out, Activation>& a, int tile_m) {
        return make_tensor_map(a.input.data, a.input.count * a.input.height * a.input.width, a.input.channels,
                               pixel_stride(layout_of(a.input)), tile_m, step_of<In>, 1, 0,
                               operand_map_type<In>);
    }
    template <class In, class Out, class Activation>
    static window_map window_map_of(const arguments<In, Out, Activation>& a, int pixels) {
        const conv_geometry& g = a.geometry;
        return {.channels = a.input.channels,
                .width = a.input.width,
                .height = a.input.height,
                .images = a.input.count,
                .col_stride = a.input.col_stride,
                .row_stride = a.input.row_stride,
                .image_stride = a.input.image_stride,
                .first_x = narrow(-g.padding.left),
                .first_y = narrow(-g.padding.top),
                .last_x = narrow(g.padding.right - (a.filters.width - 1) * g.dilation.x),
                .last_y = narrow(g.padding.bottom - (a.filters.height - 1) * g.dilation.y),
                .step_x = narrow(g.stride.x),
                .step_y = narrow(g.stride.y),
                .pixels = pixels,
                .box_channels = step_of<In>};
    }
};

}  // namespace heddle::kernels::conv
