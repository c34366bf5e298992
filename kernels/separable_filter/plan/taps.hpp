#pragma once

#include <cstddef>
#include <span>

namespace heddle::kernels::separable_filter {

/// The weights of the pixels at -radius..radius: a Gaussian's, scale * exp(-(i / sigma)^2 / 2), whose sum is
/// 1, or a caller's own. Small enough to travel in a kernel's parameters, which the kernel reads through the
/// constant cache.
struct taps {
    static constexpr int table_radius = 1000;

    int radius = 0;
    double sigma = 1;
    double scale = 1;
    /// The weights in float, that of -radius first. Of a radius above table_radius there is no table: the
    /// kernel computes what it needs from sigma and scale.
    float table[2 * table_radius + 1];
    /// Of all weights.
    float sum = 1;

    constexpr bool has_table() const { return radius <= table_radius; }
    constexpr std::size_t count() const { return 2 * static_cast<std::size_t>(radius) + 1; }
    constexpr std::span<const float> weights() const { return {table, count()}; }
};

}  // namespace heddle::kernels::separable_filter
