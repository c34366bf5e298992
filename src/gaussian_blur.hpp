#pragma once

#include "src/validate.hpp"
#include <heddle/gaussian_blur.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace heddle::detail {

/// Windows are counted in 32 bits, far above any that a machine could work through.
inline constexpr std::int64_t max_blur_radius = std::int64_t{1} << 28;

/// Where options give no radius, sigma must not make one that is too large.
inline void validate_sigma(const char* operation, double sigma, bool makes_radius) {
    require(std::isfinite(sigma) && sigma > 0, operation, "sigma", sigma, "a positive, finite number");
    constexpr double most = static_cast<double>(max_blur_radius) / 4;
    require(!makes_radius || sigma <= most, operation, "sigma", sigma, "at most {}", most);
}

/// What heddle::gaussian_blur and its CPU sibling ask of their arguments.
template <class T>
void validate_blur(const char* operation, const image_view<const T>& source, const image_view<T>& destination,
                   double sigma, const gaussian_blur_options& options) {
    validate(operation, "source", source);
    validate(operation, "destination", destination);
    require(source.width == destination.width, operation, {"source", "width"}, source.width,
            "{} (destination.width)", destination.width);
    require(source.height == destination.height, operation, {"source", "height"}, source.height,
            "{} (destination.height)", destination.height);
    require(source.channels == destination.channels, operation, {"source", "channels"}, source.channels,
            "{} (destination.channels)", destination.channels);
    require(!overlap(footprint_of(source), footprint_of(destination)), operation, "destination",
            "a view that overlaps source", "memory apart from it");

    validate_sigma(operation, sigma, !options.radius.has_value());
    const std::int64_t radius = options.radius.value_or(0);
    require(radius >= 0 && radius <= max_blur_radius, operation, {"options", "radius"}, radius, "0 to {}",
            max_blur_radius);
    switch (options.border) {
        case border::replicate:
        case border::reflect:
        case border::wrap:
            return;
        case border::constant:
            if constexpr (std::is_integral_v<T>)
                require(options.border_value >= 0 && options.border_value <= 255 &&
                            options.border_value == std::floor(options.border_value),
                        operation, {"options", "border_value"}, options.border_value,
                        "a whole number from 0 to 255");
            return;
    }
    require(false, operation, {"options", "border"}, static_cast<int>(options.border),
            "an enumerator of border");
}

/// The weight of a pixel at `distance`, before it is normalised.
inline double blur_weight(double sigma, std::int64_t distance) {
    const double t = static_cast<double>(distance) / sigma;
    return std::exp(-0.5 * t * t);
}

/// What the weights of -radius..radius are multiplied with to sum to 1.
inline double blur_scale(double sigma, std::int64_t radius) {
    double side = 0;  // smallest first
    for (std::int64_t i = radius; i > 0; --i) side += blur_weight(sigma, i);
    return 1 / (1 + 2 * side);
}

/// The radius to work with: the one asked for, less the weights that are 0 in float. Those are all beyond 15
/// sigma and none up to 12, whatever the scale.
inline std::int64_t blur_radius(double sigma, const gaussian_blur_options& options) {
    std::int64_t radius = options.radius ? *options.radius : gaussian_radius(sigma);
    const auto reach = [sigma](int sigmas) {
        return static_cast<std::int64_t>(std::min<double>(std::ceil(sigmas * sigma), max_blur_radius));
    };
    radius = std::min(radius, reach(15));
    if (static_cast<double>(radius) <= 12 * sigma) return radius;
    const double scale = blur_scale(sigma, radius);
    while (static_cast<float>(scale * blur_weight(sigma, radius)) == 0) --radius;
    return radius;
}

}  // namespace heddle::detail
