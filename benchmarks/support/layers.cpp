#include "benchmarks/support/layers.hpp"

namespace heddle::bench {
namespace {

/// One side of an image and of the windows on it.
struct side {
    std::int64_t extent, outputs, taps, stride, before, dilation;

    /// How many of the side's places a window meets.
    [[nodiscard]] std::int64_t met() const {
        std::vector<bool> is_met(static_cast<std::size_t>(extent));
        for (std::int64_t out = 0; out < outputs; ++out)
            for (std::int64_t tap = 0; tap < taps; ++tap) {
                const std::int64_t at = out * stride - before + tap * dilation;
                if (at >= 0 && at < extent) is_met[static_cast<std::size_t>(at)] = true;
            }
        return std::ranges::count(is_met, true);
    }
};

double bytes_of_one(std::string_view type) {
    return type == "f32" || type == "tf32" ? 4 : 2;
}

std::string images(std::int64_t count, std::int64_t height, std::int64_t width, std::int64_t channels) {
    return fmt::format("{}x{}x{}x{}", count, height, width, channels);
}

/// -s2, or -s2x1 where they differ; nothing where both are the usual one.
std::string pair(char name, std::int64_t y, std::int64_t x, std::int64_t usual) {
    if (y == usual && x == usual) return "";
    return y == x ? fmt::format("-{}{}", name, y) : fmt::format("-{}{}x{}", name, y, x);
}

std::string text(const conv_padding& p) {
    if (p.top == p.bottom && p.left == p.right) return pair('p', p.top, p.left, 0);
    return fmt::format("-p{}.{}.{}.{}", p.top, p.bottom, p.left, p.right);
}

}  // namespace

std::string text(const conv_shape& s) {
    const conv_geometry& g = s.geometry;
    return images(s.count, s.height, s.width, s.channels) +
           fmt::format("-k{}-{}x{}", s.filters, s.filter_height, s.filter_width) +
           pair('s', g.stride.y, g.stride.x, 1) + text(g.padding) + pair('d', g.dilation.y, g.dilation.x, 1) +
           (g.groups == 1 ? "" : fmt::format("-g{}", g.groups));
}

std::string text(const pool_shape& s) {
    const pool_geometry& g = s.geometry;
    const std::string of_images = images(s.count, s.height, s.width, s.channels);
    if (s.is_global()) return of_images;
    return of_images + fmt::format("-{}x{}", g.window.y, g.window.x) + pair('s', g.stride.y, g.stride.x, 1) +
           text(g.padding);
}

problem problem_of(const conv_shape& s, std::string_view type) {
    const conv_geometry& g = s.geometry;
    const std::int64_t rows =
        side{s.height, s.output_height(), s.filter_height, g.stride.y, g.padding.top, g.dilation.y}.met();
    const std::int64_t cols =
        side{s.width, s.output_width(), s.filter_width, g.stride.x, g.padding.left, g.dilation.x}.met();
    const std::int64_t read = s.count * rows * cols * s.channels + s.filters_size() + s.filters;
    const std::int64_t terms = s.filter_height * s.filter_width * (s.channels / g.groups);
    problem result{fmt::format("conv/{}/{}", type, text(s)), bytes_of_one(type) * static_cast<double>(read),
                   bytes_of_one(type) * static_cast<double>(s.output_size()),
                   2 * static_cast<double>(s.output_size()) * static_cast<double>(terms)};
    if (g.groups == s.channels && g.groups > 1) return result;
    result.set_unit_of_products(type);
    return result;
}

problem problem_of(const pool_shape& s, std::string_view type) {
    const pool_geometry& g = s.geometry;
    const std::int64_t rows =
        side{s.height, s.output_height(), g.window.y, g.stride.y, g.padding.top, 1}.met();
    const std::int64_t cols =
        side{s.width, s.output_width(), g.window.x, g.stride.x, g.padding.left, 1}.met();
    const std::string name = fmt::format("{}{}", s.is_global() ? "global_" : "",
                                         s.mode == pool_mode::max ? "max_pool" : "average_pool");
    if (type == "tf32") type = "f32";
    return {fmt::format("{}/{}/{}", name, type, text(s)),
            bytes_of_one(type) * static_cast<double>(s.count * rows * cols * s.channels),
            bytes_of_one(type) * static_cast<double>(s.output_size())};
}

}  // namespace heddle::bench
