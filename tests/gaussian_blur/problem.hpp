#pragma once

#include "tests/support/images.hpp"
#include <heddle/gaussian_blur.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

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
    [[nodiscard]] gaussian_blur_problem described(std::int64_t images = 1) const {
        gaussian_blur_problem described{width, height, channels, radius, sigma, pixel_type_of<T>, images};
        described.border = border;
        return described;
    }
};

/// The same with another radius along y, or along x.
inline problem skewed(problem p, int turn) {
    if (turn % 3 == 1) p.radius.y = p.radius.y / 2 + 1;
    if (turn % 3 == 2) p.radius.x = p.radius.x * 2 / 3;
    p.sigma = sigma_of(p.radius);
    return p;
}

inline std::string text(const problem& p) {
    return std::to_string(p.width) + "x" + std::to_string(p.height) + "c" + std::to_string(p.channels) +
           "-r" + std::to_string(p.radius.x) + "x" + std::to_string(p.radius.y) + " " + name_of(p.border);
}

inline gaussian_blur_options options_of(const problem& p) {
    return {.radius = p.radius, .border = p.border, .border_value = border_value};
}

inline constexpr std::array pixel_types = {pixel_type::u8, pixel_type::u16, pixel_type::f16, pixel_type::f32};

/// The type that `type` stands for.
template <class Body>
auto with_type(pixel_type type, Body body) {
    switch (type) {
        case pixel_type::u8:
            return body.template operator()<std::uint8_t>();
        case pixel_type::u16:
            return body.template operator()<std::uint16_t>();
        case pixel_type::f16:
            return body.template operator()<half>();
        case pixel_type::f32:
            break;
    }
    return body.template operator()<float>();
}

inline std::string name_of(pixel_type type) {
    return with_type(type, []<class T>() { return std::string(type_name<T>()); });
}

/// Names the cases of a suite by its parameter.
struct parameter_names {
    template <class Parameter>
    std::string operator()(const testing::TestParamInfo<Parameter>& info) const {
        return name_of(info.param);
    }
};

/// Sizes around the edges of every tile, and images smaller than their window.
inline std::vector<problem> problems_of_one_channel() {
    std::vector<problem> all = {
        {1, 1, 1, 0},    {1, 1, 1, 5},    {1, 1, 1, 40},   {1, 37, 1, 3},    {37, 1, 1, 3},   {1, 37, 1, 16},
        {37, 1, 1, 16},  {2, 3, 1, 1},    {2, 3, 1, 8},    {2, 3, 1, 15},    {2, 3, 1, 40},   {5, 4, 1, 40},
        {127, 17, 1, 2}, {128, 16, 1, 9}, {129, 15, 1, 9}, {131, 33, 1, 17}, {31, 65, 1, 17}, {33, 63, 1, 20},
        {511, 9, 1, 2},  {512, 8, 1, 5},  {513, 9, 1, 1},  {1023, 7, 1, 2},  {1024, 8, 1, 2}, {1025, 9, 1, 5},
        {70, 131, 1, 3}, {257, 67, 1, 15}};
    // Around the tiles of `fused`: 120 values of float at radius 2, 112 at 5, 240 of others; 8 rows, and 32 a block.
    all.insert(all.end(), {{119, 33, 1, 2},
                           {120, 32, 1, 2},
                           {121, 31, 1, 1},
                           {224, 24, 1, 5},
                           {240, 40, 1, 2},
                           {241, 65, 1, 3}});
    return all;
}

/// Windows so wide that `decimated` takes them.
inline std::vector<problem> problems_of_wide_windows() {
    std::vector<problem> all;
    const std::vector<blur_sigma> sigmas = {{9, 9}, {13.7, 10}, {8, 21.5}};
    for (const blur_sigma& sigma : sigmas)
        for (const border kind : borders) {
            const std::int64_t channels = 1 + static_cast<std::int64_t>(all.size()) % 4;
            all.push_back({60 + 31 * channels,
                           190 - 27 * channels,
                           channels,
                           {gaussian_radius(sigma.x), gaussian_radius(sigma.y)},
                           sigma,
                           kind});
        }
    return all;
}

}  // namespace heddle::test
