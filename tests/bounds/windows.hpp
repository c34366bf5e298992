#pragma once

#include "tests/bounds/approximate.hpp"
#include <heddle/gaussian_blur.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

/// docs/accuracy.md, pool, gaussian_blur and Fixed filters.
namespace heddle::bounds {

/// The error of an average of pixels, from the mean of their magnitudes.
template <class T>
double of_average(double value, double magnitude, double pixels) {
    return stored_as<T>(value, (pixels + 2) * u * magnitude);
}

/// Sums along x, then along y, of nx and ny float taps, as a share of the sum of magnitudes.
inline double of_passes(double nx, double ny, bool rounds_taps) {
    return (nx + ny + (rounds_taps ? 4 : 2)) * u;
}

/// The cost of denormal taps and sums, where no pixel is larger; weight_y is the sum of |tap| along y.
inline double of_denormals(double nx, double ny, double weight_y, double largest) {
    return (nx * weight_y + ny) * (1 + largest) * smallest<float>();
}

/// The same for a blur, whose weights sum to 1: half the smallest number each.
inline double of_blurred_denormals(double nx, double ny, double largest) {
    return ((nx + ny) / 2 + 1) * (1 + largest) * smallest<float>();
}

/// The error of a pixel whose sum is off by `error` in float.
template <class T>
double pixel_of(double value, double error) {
    if constexpr (std::is_integral_v<T>) return 0.5 + error;
    return std::is_same_v<T, float> ? error : stored_as<T>(value, error);
}

/// A mean of nx * ny integers is at least half a step of 1 / (nx * ny) away from halves.
template <class T>
approximate mean_pixel(double value, double error, double nx, double ny) {
    if (std::is_integral_v<T> && error < 0.5 / (nx * ny)) return std::round(value);
    return {value, pixel_of<T>(value, error)};
}

/// A term goes through at most three roundings; integers round nothing.
template <class T>
double of_stencil(double magnitude) {
    return std::is_integral_v<T> ? 0 : 3 * u / (1 - 3 * u) * magnitude;
}

/// Squares, their sum and the root round once each. Squares below the smallest number are lost.
inline approximate gradient_magnitude(const approximate& x, const approximate& y) {
    const double value = std::sqrt(x.value * x.value + y.value * y.value);
    const double of_terms = std::sqrt(x.bound * x.bound + y.bound * y.bound);
    return {value, of_terms + 3 * u * (value + of_terms) + 0x1p-74};
}

inline std::vector<double> gaussian(double sigma, std::int64_t radius) {
    std::vector<double> taps;
    double sum = 0;
    for (std::int64_t i = -radius; i <= radius; ++i) {
        taps.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
        sum += taps.back();
    }
    for (double& tap : taps) tap /= sum;
    return taps;
}

inline std::vector<double> box(std::int64_t radius) {
    const auto n = static_cast<std::size_t>(2 * radius + 1);
    return std::vector<double>(n, 1 / static_cast<double>(n));
}

inline constexpr std::array tensor_core_blurs = {gaussian_blur_algorithm::mma_xy,
                                                 gaussian_blur_algorithm::wgmma_xy,
                                                 gaussian_blur_algorithm::mma_xy_by_channel};

/// The error against a window cut at 4 sigma, as a share of the largest pixel.
inline constexpr double of_decimated = 2.7e-4;

/// The error of the integer rungs, in levels of uint8; `automatic` may be any that takes the window. 0 for all others.
inline double of_whole_numbers(gaussian_blur_algorithm rung, const std::vector<double>& taps_x,
                               const std::vector<double>& taps_y, std::int64_t channels) {
    using enum gaussian_blur_algorithm;
    const auto radius_x = static_cast<std::int64_t>(taps_x.size() / 2),
               radius_y = static_cast<std::int64_t>(taps_y.size() / 2);
    const auto takes_window = [=](gaussian_blur_algorithm which) {
        if (which == wgmma_xy) return radius_y <= 16 && radius_x <= 32;
        if (which == mma_xy_by_channel) return radius_y <= 8 && radius_x <= 8;
        return std::max(radius_x, radius_y) <= 40;
    };
    if (rung == automatic) {
        double most = 0;
        for (const gaussian_blur_algorithm which : tensor_core_blurs)
            if (takes_window(which)) most = std::max(most, of_whole_numbers(which, taps_x, taps_y, channels));
        return most;
    }
    if (std::ranges::find(tensor_core_blurs, rung) == tensor_core_blurs.end()) return 0;
    const bool has_whole_sums = rung == wgmma_xy || rung == mma_xy_by_channel;
    const auto of_axis = [=](const std::vector<double>& taps, double of_tap, double of_sum) {
        const auto n = static_cast<double>(taps.size());
        const double most = std::min(0x1p15 / *std::ranges::max_element(taps), 0x1p19);
        return (of_tap * n + of_sum) / ((has_whole_sums ? 0.9 : 1) * most - n);  // roundings of weights
    };
    return of_axis(taps_x, 127.5, 0) + of_axis(taps_y, has_whole_sums ? 127.5 + 1 : 127.5 + 2, 1) +
           (has_whole_sums ? 0x1p-17 : 0x1p-15) + 2 * 255 * 0x1p-23;
}

}  // namespace heddle::bounds
