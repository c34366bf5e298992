#pragma once

#include "tests/support/blurs.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/images.hpp"

namespace heddle {

inline void PrintTo(gaussian_blur_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

}  // namespace heddle

namespace heddle::test {

using algorithm = gaussian_blur_algorithm;

/// A sigma for which the outermost weights of a window of this radius count.
inline blur_sigma sigma_of(const window_radius& radius) {
    const auto along = [](std::int64_t r) { return std::max(0.5, static_cast<double>(r) / 3); };
    return {along(radius.x), along(radius.y)};
}

struct problem : image_size {
    window_radius radius;
    blur_sigma sigma = sigma_of(radius);
    heddle::border border = heddle::border::replicate;

    [[nodiscard]] problem with(heddle::border kind) const {
        problem p = *this;
        p.border = kind;
        return p;
    }
    /// With a destination of a region's size.
    [[nodiscard]] problem of(const image_region& region) const {
        problem p = *this;
        p.width = region.width;
        p.height = region.height;
        return p;
    }
    template <class T>
    [[nodiscard]] blur_of_images described(std::int64_t images = 1) const {
        blur_of_images described{width, height, channels, radius, sigma, pixel_type_of<T>, images};
        described.border = border;
        return described;
    }
};

inline std::string text(const problem& p) {
    return std::to_string(p.width) + "x" + std::to_string(p.height) + "c" + std::to_string(p.channels) +
           "-r" + std::to_string(p.radius.x) + "x" + std::to_string(p.radius.y) + " " + name_of(p.border);
}

inline gaussian_blur_options options_of(const problem& p) {
    return {.radius = p.radius, .border = p.border, .border_value = border_value};
}

inline constexpr std::array pixel_types = {pixel_type::u8, pixel_type::u16, pixel_type::f16, pixel_type::f32};

/// Names the cases of a suite by its parameter.
struct parameter_names {
    template <class Parameter>
    std::string operator()(const testing::TestParamInfo<Parameter>& info) const {
        return name_of(info.param);
    }
};

}  // namespace heddle::test
