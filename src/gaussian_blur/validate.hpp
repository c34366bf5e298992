#pragma once

#include "kernels/gaussian_blur/facts.hpp"
#include "src/images.hpp"
#include "src/validate.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/tensor.hpp>

#include <cmath>
#include <cstdint>

namespace heddle::detail {

/// Sizes of windows fit 32 bits. No machine could finish a blur with such a radius.
inline constexpr std::int64_t max_blur_radius = std::int64_t{1} << 28;

/// Checks sigma. If it determines the radius, it must not make the radius too large.
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

/// Checks the arguments of a Gaussian blur on the GPU or the CPU; without elements, only the images' layouts.
template <class T>
void validate_blur(const char* operation, const image_batch_view<const T>& source,
                   const image_batch_view<T>& destination, const blur_sigma& sigma,
                   const gaussian_blur_options& options, bool have_elements = true) {
    validate_images(operation, source, destination, options.region, have_elements);
    validate_sigma(operation, {"sigma", "x"}, sigma.x, !options.radius);
    validate_sigma(operation, {"sigma", "y"}, sigma.y, !options.radius);
    validate_radius(operation, "options.radius", options.radius.value_or(0));
    validate_border<T>(operation, options.border, options.border_value);
}

constexpr bool is_empty(const gaussian_blur_problem& problem) {
    const tensor_layout& images = problem.destination;
    return images.count == 0 || images.height == 0 || images.width == 0;
}

/// Checks that the size of the intermediate image between two passes fits.
inline void validate_intermediate(const char* operation, const gaussian_blur_problem& problem) {
    const tensor_layout& images = problem.destination;
    validate_extents(operation,
                     {{"width", images.width}, {"height", images.height}, {"images", images.count}});
    if (is_empty(problem)) return;
    validate_extents(operation, {{"width", images.width * images.channels},
                                 {"images", images.count},
                                 {"height", images.height + 2 * problem.radius.y}});
}

/// All checks of a problem except those of the images' layouts and of the source's extents.
inline void validate_window(const char* operation, const gaussian_blur_problem& problem,
                            const device_traits& device) {
    validate_device(operation, device);
    const std::int64_t channels = problem.destination.channels;
    require(channels >= 1 && channels <= 4, operation, {"problem", "channels"}, channels, "1 to 4");
    validate_radius(operation, "problem.radius", problem.radius);
    validate_sigma(operation, {"problem.sigma", "x"}, problem.sigma.x, false);
    validate_sigma(operation, {"problem.sigma", "y"}, problem.sigma.y, false);
    require(pixel_type::u8 <= problem.type && problem.type <= pixel_type::f32, operation, {"problem", "type"},
            static_cast<int>(problem.type), "an enumerator of pixel_type");
    require(border::replicate <= problem.border && problem.border <= border::constant, operation,
            {"problem", "border"}, static_cast<int>(problem.border), "an enumerator of border");
    validate_intermediate(operation, problem);
}

/// All checks of a problem. Its images must lie as views of its type can.
inline void validate_problem(const char* operation, const gaussian_blur_problem& problem,
                             const device_traits& device) {
    validate_window(operation, problem, device);
    const std::int64_t value_bytes = kernels::gaussian_blur::bytes_of(problem.type);
    const auto validate_layout = [&](const char* name, const tensor_layout& images) {
        require(images.element_bytes == value_bytes, operation, {name, "element_bytes"}, images.element_bytes,
                "{} (problem.type)", value_bytes);
        validate_images(operation, name, images);
        require(images.col_stride == images.channels, operation, {name, "col_stride"}, images.col_stride,
                "{} (channels)", images.channels);
        require(images.offset >= 0 && images.offset < 256, operation, {name, "offset"}, images.offset,
                "0 to 255");
    };
    validate_layout("source", problem.source);
    validate_layout("destination", problem.destination);
    validate_filtered(operation, problem.source, problem.destination, "problem.region", problem.region);
}

}  // namespace heddle::detail
