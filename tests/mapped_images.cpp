#include "tests/support/mapped_pages.hpp"
#include "tests/support/random.hpp"
#include <heddle/conv.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/planes.hpp>
#include <heddle/pool.hpp>
#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

// Tensors and images at the edges of mapped pages.
namespace heddle {
namespace {

using test::extent, test::mapped_pages_test, test::of_rung, test::operands, test::random_elements,
    test::rung_name, test::values_in;

/// An image has this width and height, these channels, and so many values from a row to the next.
struct image_shape {
    std::int64_t width, height, channels, row_stride;
};
constexpr image_shape images[] = {
    {1, 1, 1, 1},       {128, 64, 1, 128}, {97, 61, 1, 97},    {97, 61, 3, 291},   {256, 128, 4, 1024},
    {320, 200, 3, 960}, {333, 77, 1, 336}, {640, 480, 1, 640}, {512, 300, 1, 528}, {1001, 130, 2, 2003}};

std::string text(const image_shape& s) {
    return std::to_string(s.width) + "x" + std::to_string(s.height) + "x" + std::to_string(s.channels) +
           ", stride " + std::to_string(s.row_stride);
}

using mapped_conv = of_rung<conv_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_conv, values_in(conv_algorithms()), rung_name);

TEST_P(mapped_conv, keeps_to_its_operands) {
    struct shape {
        std::int64_t channels, outputs, side, groups;
    };
    constexpr std::int64_t count = 2, height = 7, width = 9;
    const auto check_type = [&]<class T>(T) {
        for (const auto& [channels, outputs, side, groups] : {shape{3, 5, 3, 1},
                                                              {8, 64, 1, 1},
                                                              {64, 128, 3, 1},
                                                              {33, 66, 3, 3},
                                                              {24, 24, 5, 24},
                                                              {132, 132, 3, 132},
                                                              {9, 9, 3, 9}}) {
            const conv_options options{.geometry = {.padding = {1, 1, 1, 1}, .groups = groups},
                                       .algorithm = this->GetParam()};
            const std::int64_t p = conv_output_height(height, side, options.geometry),
                               q = conv_output_width(width, side, options.geometry);
            const auto xs = random_elements<T>(count * height * width * channels);
            const auto ws = random_elements<T>(outputs * side * side * channels / groups);
            this->check_edges(std::to_string(channels) + " to " + std::to_string(outputs), [&](operands& o) {
                conv<T>({o.of(xs), count, height, width, channels},
                        {o.of(ws), outputs, side, side, channels / groups},
                        tensor_view<T>{o.result<T>(count * p * q * outputs), count, p, q, outputs},
                        *this->stream_, options);
            });
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_pool = of_rung<pool_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_pool, values_in(pool_algorithms()), rung_name);

TEST_P(mapped_pool, keeps_to_its_operands) {
    constexpr std::int64_t count = 2, height = 7, width = 9;
    const auto check_type = [&]<class T>(T) {
        for (const std::int64_t channels : {3, 8, 33, 72})
            for (const pool_geometry& g :
                 {pool_geometry{{3, 3}, {2, 2}, {1, 1, 1, 1}}, pool_geometry{{height, width}}}) {
                const std::int64_t p = pool_output_height(height, g), q = pool_output_width(width, g);
                const auto xs = random_elements<T>(count * height * width * channels);
                this->check_edges(std::to_string(channels) + " channels", [&](operands& o) {
                    pool<T>({o.of(xs), count, height, width, channels},
                            tensor_view<T>{o.result<T>(count * p * q * channels), count, p, q, channels},
                            *this->stream_, {.geometry = g, .algorithm = this->GetParam()});
                });
            }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_planes = mapped_pages_test;

TEST_F(mapped_planes, keep_to_their_operands) {
    constexpr std::int64_t count = 2, height = 7, width = 9;
    const auto check_type = [&]<class T>(T) {
        for (const std::int64_t channels : {3, 17, 64, 130}) {
            const auto xs = random_elements<T>(count * height * width * channels);
            check_edges(std::to_string(channels) + " channels", [&](operands& o) {
                to_nhwc<T>({o.of(xs), count, channels, height, width},
                           {o.result<T>(count * height * width * channels), count, height, width, channels},
                           *stream_);
                to_nchw<T>({o.of(xs), count, height, width, channels},
                           {o.result<T>(count * height * width * channels), count, channels, height, width},
                           *stream_);
            });
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_gaussian_blur = of_rung<gaussian_blur_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_gaussian_blur, values_in(gaussian_blur_algorithms()), rung_name);

TEST_P(mapped_gaussian_blur, keeps_to_its_operands) {
    int ran = 0;
    const auto check_type = [&]<class T>(T) {
        for (const image_shape& s : images)
            for (const double sigma : {0.8, 2.5, 9.0})
                for (const border kind : {border::replicate, border::wrap}) {
                    const std::int64_t values = s.width * s.channels;
                    const std::int64_t size = extent(s.height, s.row_stride, values);
                    const auto xs = random_elements<T>(size, 0, 255);
                    const std::string what = text(s) + ", sigma " + std::to_string(sigma);
                    const gaussian_blur_options options{.border = kind, .algorithm = this->GetParam()};
                    ran += this->check_edges(what,
                                             [&](operands& o) {
                                                 gaussian_blur<T>(
                                                     image_view<const T>{o.of(xs), s.width, s.height,
                                                                         s.channels, s.row_stride},
                                                     image_view<T>{o.result<T>(size), s.width, s.height,
                                                                   s.channels, s.row_stride},
                                                     sigma, *this->stream_, options);
                                             })
                               ? 1
                               : 0;
                }
    };
    check_type(std::uint8_t{});
    check_type(std::uint16_t{});
    check_type(half{});
    check_type(float{});
    if (!test::has_warpgroups() && ran == 0) GTEST_SKIP() << "needs compute capability 9.0";
    EXPECT_GT(ran, 0);
}

using mapped_image_filter = of_rung<image_filter_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_image_filter, values_in(image_filter_algorithms()), rung_name);

TEST_P(mapped_image_filter, keeps_to_its_operands) {
    int ran = 0;
    const auto check_type = [&]<class T>(T) {
        for (const image_shape& s : images)
            for (const border kind : {border::replicate, border::wrap}) {
                const std::int64_t size = extent(s.height, s.row_stride, s.width * s.channels);
                const auto xs = random_elements<T>(size, 0, 255);
                const image_filter_options options{.border = kind, .algorithm = this->GetParam()};
                const auto source = [&](operands& o) {
                    return image_view<const T>{o.of(xs), s.width, s.height, s.channels, s.row_stride};
                };
                const auto result = [&]<class Out>(operands& o, Out) {
                    return image_view<Out>{o.result<Out>(size), s.width, s.height, s.channels, s.row_stride};
                };
                const auto count = [&](const char* filter, auto call) {
                    if (this->check_edges(filter + (", " + text(s)), call)) ++ran;
                };
                count("box_blur", [&](operands& o) {
                    box_blur<T>(source(o), result(o, T{}), 3, *this->stream_, options);
                });
                count("sobel", [&](operands& o) {
                    sobel<T>(source(o), result(o, float{}), gradient::magnitude, *this->stream_, options);
                });
                count("laplacian", [&](operands& o) {
                    laplacian<T>(source(o), result(o, float{}), *this->stream_, options);
                });
                if constexpr (std::is_same_v<T, float>) {
                    const std::vector<float> taps = {0.25f, -1, 3, 0.5f, 0.125f};
                    count("separable_convolution", [&](operands& o) {
                        separable_convolution(source(o), result(o, float{}), taps, taps, *this->stream_,
                                              options);
                    });
                }
            }
    };
    check_type(std::uint8_t{});
    check_type(std::uint16_t{});
    check_type(half{});
    check_type(float{});
    EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace heddle
