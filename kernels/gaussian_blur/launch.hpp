#pragma once

#include "kernels/gaussian_blur/taps.hpp"
#include <heddle/device.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle::kernels::gaussian_blur {

/// Images none of whose extents is 0. The destination's pixel (0, 0) is the source's (x, y): the blur of a
/// region, inside of the source.
template <class T>
struct arguments {
    image_batch_view<const T> source;
    image_batch_view<T> destination;
    std::int64_t x = 0;
    std::int64_t y = 0;
    taps taps_x;
    taps taps_y;
    heddle::border border;
    T border_value;
    /// Scratch memory where a rung needs any, at a multiple of 16 bytes.
    float* intermediate = nullptr;
};

/// All rungs but naive and separable count the values of a row, the source's too, in 32 bits, and twice a
/// row's in border.cuh.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;

/// The image between two passes, in float: for each image of a batch the rows of the source that its
/// destination needs, filtered along x. Where borders wrap, those rows may run round the source's edge.
struct intermediate_image {
    std::int64_t first_row = 0;  ///< of the source
    std::int64_t rows = 0;
    std::int64_t source_rows = 0;
    std::int64_t stride = 0;  ///< of rows, those of all images one after another

    __host__ __device__ std::int64_t source_row(std::int64_t row) const {
        const std::int64_t y = first_row + row;
        return y < source_rows ? y : y - source_rows;
    }
    __host__ __device__ std::int64_t row_of(std::int64_t source_row) const {
        return source_row < first_row ? source_row - first_row + source_rows : source_row - first_row;
    }
};

/// Rows start at multiples of 16 bytes and have room to the next one.
constexpr std::int64_t intermediate_stride(std::int64_t row_values) {
    return (row_values + 3) / 4 * 4;
}

/// The rows that a blur's rows y..y + height - 1 need: those of their window that lie in the source. What
/// replicate and both kinds of reflect show outside of it is among them, as the mirror image of a row that
/// the window reaches beyond an edge is no further inside than the window. For `wrap` the window itself.
inline intermediate_image intermediate_rows(std::int64_t source_height, std::int64_t y, std::int64_t height,
                                            std::int64_t radius, border border) {
    intermediate_image image{.source_rows = source_height};
    if (border == border::wrap) {
        image.rows = std::min(source_height, height + 2 * radius);
        if (image.rows < source_height) image.first_row = (y - radius + source_height) % source_height;
    } else {
        image.first_row = std::max<std::int64_t>(y - radius, 0);
        image.rows = std::min(y + height + radius, source_height) - image.first_row;
    }
    return image;
}

template <class T>
intermediate_image intermediate_of(const arguments<T>& a) {
    const image_view<T>& destination = a.destination.first;
    intermediate_image image =
        intermediate_rows(a.source.first.height, a.y, destination.height, a.taps_y.radius, a.border);
    image.stride = intermediate_stride(destination.width * destination.channels);
    return image;
}

/// What intermediate_of() takes at most, whatever the region and the border.
inline std::int64_t intermediate_bytes(const gaussian_blur_problem& problem, std::int64_t source_height) {
    const std::int64_t rows = std::min(source_height, problem.height + 2 * problem.radius.y);
    return problem.images * rows * intermediate_stride(problem.width * problem.channels) *
           std::int64_t{sizeof(float)};
}

/// function<channels>(), where the number of channels is compiled in.
template <class Function>
void with_channels(std::int64_t channels, Function function) {
    switch (channels) {
        case 1:
            return function.template operator()<1>();
        case 2:
            return function.template operator()<2>();
        case 3:
            return function.template operator()<3>();
        default:
            return function.template operator()<4>();
    }
}

/// function<radius>(), where radii up to `most` are compiled in.
template <int most, class Function>
void with_radius(int radius, Function function) {
    [&]<int... radii>(std::integer_sequence<int, radii...>) {
        ((radius == radii ? function.template operator()<radii>() : void()), ...);
    }
    (std::make_integer_sequence<int, most + 1>{});
}

constexpr int value_bytes(pixel_type type) {
    return type == pixel_type::u8 ? 1 : type == pixel_type::f32 ? 4 : 2;
}

/// Whether launch_along_x() can run this problem: a row's window fits the shared memory.
bool along_x_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// The first pass of shared_memory and register_window: into arguments::intermediate.
template <class T>
void launch_along_x(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

/// Whether shared_memory can run this problem.
bool shared_memory_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// Whether register_window can run this problem.
bool register_window_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// How many blocks of `fused` an SM holds at once, at least, or 2 where one has as many warps as two; 0 where it cannot run this
/// problem.
int fused_blocks_per_sm(const gaussian_blur_problem& problem, const device_traits& device);

/// Needs tables of both taps.
template <class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <class T>
void launch_separable(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs shared_memory_fits().
template <class T>
void launch_shared_memory(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs register_window_fits().
template <class T>
void launch_register_window(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs fused_blocks_per_sm() > 0.
template <class T>
void launch_fused(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

/// Of strips on the tensor cores, at least.
inline constexpr std::int64_t min_strip_columns = 32;

/// What the three rungs of bytes on the tensor cores need: the compute capability that they are built for, and grids that
/// count their strips.
inline bool has_tensor_core_bytes(const gaussian_blur_problem& problem, const device_traits& device) {
    constexpr std::int64_t max_strips = std::int64_t{1} << 28;  // each a few blocks
    const bool is_built_for = device.compute_capability_major == 9 && device.compute_capability_minor == 0;
    return is_built_for && problem.type == pixel_type::u8 &&
           problem.width <= max_row_values / problem.channels &&
           problem.images <= max_strips / (problem.width * problem.channels / min_strip_columns + 1);
}

/// Whether tensor_core can run this problem. It can where the two below can.
bool tensor_core_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// Needs tensor_core_fits().
void launch_tensor_core(const arguments<std::uint8_t>& arguments, const device_traits& device,
                        cudaStream_t stream);

/// They count a source's rows in 32 bits, and twice those in border.cuh.
inline constexpr std::int64_t max_tensor_core_rows = std::int64_t{1} << 29;
/// In bytes; those of a tensor map, which tensor_core_warpgroups reads a source by, are less.
inline constexpr std::int64_t end_of_map_strides = std::int64_t{1} << 40;

/// Whether tensor_core_registers can run this problem, of a source of max_tensor_core_rows at most.
bool tensor_core_registers_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// Needs tensor_core_registers_fits().
void launch_tensor_core_registers(const arguments<std::uint8_t>& arguments, const device_traits& device,
                                  cudaStream_t stream);

/// Whether tensor_core_warpgroups can run this problem, of a source of max_tensor_core_rows at most.
bool tensor_core_warpgroups_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// What its blocks share.
std::int64_t tensor_core_warpgroups_tiles(const gaussian_blur_problem& problem);
/// Whether its kind for small windows runs a problem that it fits, of a Gaussian and of a region from place x of the source's
/// rows on.
bool is_for_tensor_core_warps(const gaussian_blur_problem& problem, std::int64_t x);
/// Needs tensor_core_warpgroups_fits(). Boxes too, whose taps are equal: their means are rounded exactly.
void launch_tensor_core_warpgroups(const arguments<std::uint8_t>& arguments, const device_traits& device,
                                   cudaStream_t stream);

/// Whether decimated can run this problem within its bound of error, given the shared memory; and on this
/// device.
bool decimated_fits(const gaussian_blur_problem& problem);
bool decimated_fits(const gaussian_blur_problem& problem, const device_traits& device);
/// Of arguments::intermediate. Needs decimated_fits().
std::int64_t decimated_workspace_bytes(const gaussian_blur_problem& problem);
/// Needs decimated_fits().
template <class T>
void launch_decimated(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

/// The kinds of `fused`: one radius for both axes, up to this and of sources whose rows are read in packets (tiles); up to
/// the next (strips, and of one channel of float whose rows are aligned chains); and all others (the ring).
constexpr int max_tile_radius(pixel_type type, std::int64_t channels) {
    constexpr int max_halo = 12;  // values of a row beside a tile
    const int most = type == pixel_type::f32 ? 5 : type == pixel_type::u8 ? 2 : 3;
    return std::min(most, max_halo / static_cast<int>(channels));
}
constexpr int max_register_radius(pixel_type type, std::int64_t channels) {
    return type == pixel_type::f32 && channels == 1 ? 16 : 8;
}
/// Needs one radius, up to max_register_radius(), and this many channels.
template <class T, int channels>
void launch_registers(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs tile_shape::fits().
template <class T>
void launch_fused_tiles(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Whether the device holds all blocks at once that the first kind needs for this problem.
bool is_one_wave_of_tiles(const gaussian_blur_problem& problem, const device_traits& device);
/// Needs one radius, above max_tile_radius() and up to max_register_radius(), one channel, and rows of the source, from the
/// region's place on, and of the destination that start at multiples of 16 bytes.
void launch_fused_chains(const arguments<float>& arguments, const device_traits& device, cudaStream_t stream);
int fused_ring_blocks_per_sm(const gaussian_blur_problem& problem, const device_traits& device);
template <class T>
void launch_fused_ring(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::gaussian_blur
