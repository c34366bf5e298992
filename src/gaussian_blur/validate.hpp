#pragma once

#include "src/images.hpp"
#include "src/validate.hpp"
#include <heddle/gaussian_blur.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>

namespace heddle::detail {

/// Windows are counted in 32 bits, far above any that a machine could work through.
inline constexpr std::int64_t max_blur_radius = std::int64_t{1} << 28;

/// Where options give no radius, sigma must not make one that is too large.
inline void validate_sigma(const char* operation, const argument_name& name, double sigma,
                           bool makes_radius) {
    require(std::isfinite(sigma) && sigma > 0, operation, name, sigma, "a positive, finite number");
    constexpr double most = static_cast<double>(max_blur_radius) / 4;
    require(!makes_radius || sigma <= most, operation, name, sigma, "at most {}", most);
}

inline void validate_radius(const char* operation, const char* name, const window_radius& radius) {
    const auto require_radius = [&](const char* member, std::int64_t value) {
        require(value >= 0 && value <= max_blur_radius, operation, {name, member}, value, "0 to {}",
                max_blur_radius);
    };
    require_radius("x", radius.x);
    require_radius("y", radius.y);
}

/// What heddle::gaussian_blur and its CPU sibling ask of their arguments.
template <class T>
void validate_blur(const char* operation, const image_batch_view<const T>& source,
                   const image_batch_view<T>& destination, const blur_sigma& sigma,
                   const gaussian_blur_options& options) {
    validate_images(operation, source, destination, options.region);
    validate_sigma(operation, {"sigma", "x"}, sigma.x, !options.radius);
    validate_sigma(operation, {"sigma", "y"}, sigma.y, !options.radius);
    validate_radius(operation, "options.radius", options.radius.value_or(0));
    validate_border<T>(operation, options.border, options.border_value);
}

/// What an intermediate image takes, between two passes, must be countable.
inline void validate_intermediate(const char* operation, const gaussian_blur_problem& problem) {
    const auto [width, height, images] = std::tuple(problem.width, problem.height, problem.images);
    validate_extents(operation, {{"width", width}, {"height", height}, {"images", images}});
    if (width == 0 || height == 0 || images == 0) return;
    validate_extents(
        operation,
        {{"width", width * problem.channels}, {"images", images}, {"height", height + 2 * problem.radius.y}});
}

inline void validate_problem(const char* operation, const gaussian_blur_problem& problem,
                             const device_traits& device) {
    validate_device(operation, device);
    require(problem.channels >= 1 && problem.channels <= 4, operation, {"problem", "channels"},
            problem.channels, "1 to 4");
    validate_radius(operation, "problem.radius", problem.radius);
    validate_sigma(operation, {"problem.sigma", "x"}, problem.sigma.x, false);
    validate_sigma(operation, {"problem.sigma", "y"}, problem.sigma.y, false);
    require(pixel_type::u8 <= problem.type && problem.type <= pixel_type::f32, operation, {"problem", "type"},
            static_cast<int>(problem.type), "an enumerator of pixel_type");
    require(border::replicate <= problem.border && problem.border <= border::constant, operation,
            {"problem", "border"}, static_cast<int>(problem.border), "an enumerator of border");
    validate_intermediate(operation, problem);
}

}  // namespace heddle::detail
