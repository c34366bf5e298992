#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/tensor_map_limits.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace heddle::kernels::separable_filter {

__host__ __device__ constexpr int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// What the widest loads and stores take at once, in bytes.
inline constexpr int packet_bytes = 16;

/// The largest power of two that divides so many bytes, up to those of a packet.
constexpr int alignment_of(std::int64_t bytes) {
    const std::int64_t bits = bytes | packet_bytes;
    return static_cast<int>(bits & -bits);
}

/// The values from the start of a window to its first column, at place x of a row: those that it reaches, and as many more as
/// make it start at a multiple of `multiple`.
constexpr int values_before(int reach, int x, int multiple) {
    return reach + (x + round_up(reach, multiple) - reach) % multiple;
}

/// What the weights of a window are.
enum class window {
    gaussian,  ///< scale * exp(-(i / sigma)^2 / 2), whose sum is 1
    box,       ///< all of them `scale`, whose sum is 1
    taps       ///< a caller's own, symmetric or not; they have a table and no sigma
};

/// The weights of the pixels at -radius..radius. They are small enough to travel in a kernel's parameters, which the kernel
/// reads through the constant cache.
struct taps {
    static constexpr int table_radius = 1000;

    int radius = 0;
    separable_filter::window window = separable_filter::window::gaussian;
    double sigma = 1;  ///< of a Gaussian
    double scale = 1;
    /// The weights in float, that of -radius first. There is no table for a radius above table_radius:
    /// the kernel then computes what it needs from the window, sigma and scale.
    float table[2 * table_radius + 1];
    /// The sum of all weights.
    float sum = 1;

    constexpr bool has_table() const { return radius <= table_radius; }
    constexpr std::size_t count() const { return 2 * static_cast<std::size_t>(radius) + 1; }
    constexpr std::span<const float> weights() const { return {table, count()}; }
};

/// All rungs but naive and separable count the values of a row, the source's too, in 32 bits, and twice a
/// row's in border.cuh.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;
/// mma_x_registers_y and wgmma_xy count a source's rows in 32 bits, and twice those in border.cuh.
inline constexpr std::int64_t max_counted_rows = std::int64_t{1} << 29;

/// All that the choice of a kernel and its plan depend on; none of the extents is 0. What only a call's images tell has
/// defaults that stand for the best case.
struct problem : gaussian_blur_problem {
    separable_filter::window window = separable_filter::window::gaussian;
    /// The rung was asked for, so whether another is faster is not the question.
    bool is_asked_for = false;

    /// The place in the source, in pixels, of the region that is wanted.
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t source_width = width;
    std::int64_t source_height = height;
    /// Rows of the source that windows reach, at most: those of an image between two passes.
    std::int64_t rows_between = height + 2 * radius.y;

    /// In bytes. The source begins so many behind a multiple of packet_bytes, and its rows and images lie multiples of
    /// source_steps apart; rows of the destination begin at multiples of destination_alignment.
    int source_offset = 0;
    int source_steps = packet_bytes;
    int destination_alignment = packet_bytes;
    /// A tensor map can count from row to row, and from image to image (is_short_tensor_stride()).
    bool source_fits_map = true;
    bool destination_fits_map = true;

    int value_bytes() const { return type == pixel_type::u8 ? 1 : type == pixel_type::f32 ? 4 : 2; }
    std::int64_t row_values() const { return width * channels; }
    /// Along x, in values.
    std::int64_t reach() const { return radius.x * channels; }
    std::int64_t largest_radius() const { return radius.x > radius.y ? radius.x : radius.y; }
    bool has_one_radius_up_to(std::int64_t most) const { return radius.x == radius.y && radius.x <= most; }
    /// What each row of the source begins at a multiple of, in bytes, and what from the region's place on.
    int source_alignment() const { return alignment_of(source_offset | source_steps); }
    int place_alignment() const { return alignment_of(place_offset() | source_steps); }
    std::int64_t place_offset() const { return source_offset + x * channels * value_bytes(); }
};

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

}  // namespace heddle::kernels::separable_filter
