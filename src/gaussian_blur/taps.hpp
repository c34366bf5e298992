#pragma once

#include "src/gaussian_blur/validate.hpp"
#include <heddle/gaussian_blur.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

/// The weights of a Gaussian, for devices and for the CPU.
namespace heddle::detail {

/// The weight of a pixel at `distance`, before it is normalised.
inline double blur_weight(double sigma, std::int64_t distance) {
    const double t = static_cast<double>(distance) / sigma;
    return std::exp(-0.5 * t * t);
}

/// The factor by which the weights of -radius..radius sum to 1.
inline double blur_scale(double sigma, std::int64_t radius) {
    double side = 0;  // the smallest weights come first
    for (std::int64_t i = radius; i > 0; --i) side += blur_weight(sigma, i);
    return 1 / (1 + 2 * side);
}

/// The radius to work with along one axis: `radius` without the outer weights that are 0 in float. Whatever the scale, all
/// weights beyond 15 sigma are 0, and none within 12 sigma is.
inline std::int64_t blur_radius(double sigma, std::int64_t radius) {
    const auto reach = [sigma](int sigmas) {
        return static_cast<std::int64_t>(std::min<double>(std::ceil(sigmas * sigma), max_blur_radius));
    };
    radius = std::min(radius, reach(15));
    if (static_cast<double>(radius) <= 12 * sigma) return radius;
    const double scale = blur_scale(sigma, radius);
    while (static_cast<float>(scale * blur_weight(sigma, radius)) == 0) --radius;
    return radius;
}

inline window_radius blur_radius(const blur_sigma& sigma, const window_radius& asked) {
    return {blur_radius(sigma.x, asked.x), blur_radius(sigma.y, asked.y)};
}
inline window_radius blur_radius(const blur_sigma& sigma, const gaussian_blur_options& options) {
    return blur_radius(sigma, options.radius
                                  ? *options.radius
                                  : window_radius{gaussian_radius(sigma.x), gaussian_radius(sigma.y)});
}

}  // namespace heddle::detail
