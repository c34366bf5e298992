#pragma once

namespace heddle::kernels::gaussian_blur {

/// The weights scale * exp(-(i / sigma)^2 / 2) of the pixels at i = -radius..radius; their sum is 1.
/// Small enough to travel in a kernel's parameters, which the kernel reads through the constant cache.
struct taps {
    static constexpr int table_radius = 1000;

    int radius = 0;
    double sigma = 1;
    double scale = 1;
    /// The weights of i = 0..radius in float. Of a radius above table_radius there is no table: the kernel
    /// computes what it needs from sigma and scale.
    float table[table_radius + 1];

    constexpr bool has_table() const { return radius <= table_radius; }
};

}  // namespace heddle::kernels::gaussian_blur
