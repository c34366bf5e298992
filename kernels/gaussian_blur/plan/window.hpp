#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace heddle::kernels::gaussian_blur {

/// Bytes that the widest loads and stores take at once.
inline constexpr int packet_bytes = 16;

/// The values from the start of a window to its first column, which is at place x of a row. They are `reach` values, and as
/// many more as make the window start at a multiple of `multiple`.
constexpr int values_before(int reach, int x, int multiple) {
    return reach + (x + round_up(reach, multiple) - reach) % multiple;
}

/// The kinds of a window's weights.
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
    gaussian_blur::window window = gaussian_blur::window::gaussian;
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

/// The weights of one axis in the parameters of a kernel that has room for some radii: a launch with less takes less time.
template <int max_radius>
struct tap_table {
    int radius;
    float values[2 * max_radius + 1];

    explicit tap_table(const taps& taps) : radius(taps.radius) {
        std::copy_n(taps.table, taps.count(), values);
    }
    __host__ __device__ int count() const { return 2 * radius + 1; }
};
/// Most windows fit such a table.
inline constexpr int short_table_radius = 63;

/// All rungs except naive and separable count the values of a row, also of the source's, in 32 bits. border.cuh counts
/// twice as many.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;
/// Some rungs count a source's rows in 32 bits. border.cuh counts twice as many.
inline constexpr std::int64_t max_counted_rows = std::int64_t{1} << 29;

/// Calls function<channels>(), with the number of channels compiled in.
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

/// Calls function<radius>(). The radii first, first + step, ... up to `last` are compiled in.
template <int first, int last, int step = 1, class Function>
void with_radius(int radius, Function function) {
    [&]<int... steps>(std::integer_sequence<int, steps...>) {
        ((radius == first + steps * step ? function.template operator()<first + steps * step>() : void()),
         ...);
    }
    (std::make_integer_sequence<int, (last - first) / step + 1>{});
}

/// Kernels are compiled for radii that are multiples of `step`. Each takes all radii above the multiple below it; the first
/// one also takes 0.
constexpr int compiled_radius(std::int64_t radius, int step) {
    return std::max(round_up(static_cast<int>(radius), step), step);
}
/// The least radius that the kernel for `compiled` takes.
__host__ __device__ constexpr int least_radius(int compiled, int step) {
    return compiled == step ? 0 : compiled - step + 1;
}

}  // namespace heddle::kernels::gaussian_blur
