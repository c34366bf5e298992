#pragma once

#include "tests/bounds/windows.hpp"
#include "tests/support/guarded_tensor.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/pool.hpp>
#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace heddle::test {

using every_pool_type = testing::Types<float, half, bfloat16>;
inline constexpr pool_mode pool_modes[] = {pool_mode::max, pool_mode::average, pool_mode::padded_average};

struct pool_shape {
    std::int64_t count, height, width, channels;
    pool_geometry geometry{};

    std::int64_t output_height() const { return pool_output_height(height, geometry); }
    std::int64_t output_width() const { return pool_output_width(width, geometry); }
};

inline std::string text(const pool_shape& s) {
    const auto pair = [](std::int64_t a, std::int64_t b) {
        return std::to_string(a) + "x" + std::to_string(b);
    };
    const pool_geometry& g = s.geometry;
    return pair(s.count, s.height) + "x" + pair(s.width, s.channels) + ", window " +
           pair(g.window.y, g.window.x) + ", stride " + pair(g.stride.y, g.stride.x) + ", padding " +
           pair(g.padding.top, g.padding.bottom) + "x" + pair(g.padding.left, g.padding.right);
}

/// In float64: the results, and of averages the mean of the magnitudes, and how many pixels there are.
struct pool_reference {
    std::vector<double> value, magnitude, pixels;

    template <class T>
    pool_reference(const pool_shape& s, const std::vector<T>& xs, pool_mode mode) {
        for (std::int64_t n = 0; n < s.count; ++n)
            for (std::int64_t y = 0; y < s.output_height(); ++y)
                for (std::int64_t x = 0; x < s.output_width(); ++x)
                    for (std::int64_t c = 0; c < s.channels; ++c) add(s, xs, mode, n, y, x, c);
    }

  private:
    template <class T>
    void add(const pool_shape& s, const std::vector<T>& xs, pool_mode mode, std::int64_t n, std::int64_t y,
             std::int64_t x, std::int64_t c) {
        const pool_geometry& g = s.geometry;
        double largest = -std::numeric_limits<double>::infinity(), sum = 0, size = 0, count = 0;
        for (std::int64_t r = 0; r < g.window.y; ++r)
            for (std::int64_t q = 0; q < g.window.x; ++q) {
                const std::int64_t row = y * g.stride.y - g.padding.top + r,
                                   col = x * g.stride.x - g.padding.left + q;
                if (row < 0 || row >= s.height || col < 0 || col >= s.width) continue;
                const double each = to_double(
                    xs[static_cast<std::size_t>(((n * s.height + row) * s.width + col) * s.channels + c)]);
                largest = std::isnan(each) || std::isnan(largest) ? largest + each : std::max(largest, each);
                sum += each;
                size += std::abs(each);
                ++count;
            }
        const bool is_padded = mode == pool_mode::padded_average;
        const double divisor = is_padded ? static_cast<double>(g.window.y * g.window.x) : count;
        value.push_back(mode == pool_mode::max ? largest : sum / divisor);
        magnitude.push_back(mode == pool_mode::max ? 0 : size / divisor);
        pixels.push_back(count);
    }
};

/// The operands in guarded memory, and what the input holds.
template <class T>
struct pool_operands {
    pool_shape s;
    std::vector<T> xs;
    guarded_tensor<T> input, output;

    explicit pool_operands(const pool_shape& size, const tensor_gaps& of_input = {},
                           const tensor_gaps& of_output = {}, bool is_on_host = false)
        : s(size),
          xs(random_elements<T>(s.count * s.height * s.width * s.channels)),
          input(s.count, s.height, s.width, s.channels, of_input, is_on_host),
          output(s.count, s.output_height(), s.output_width(), s.channels, of_output, is_on_host) {
        input.upload(xs);
    }

    void poison_output() {
        const auto size =
            static_cast<std::size_t>(s.count * s.output_height() * s.output_width() * s.channels);
        output.upload(std::vector<T>(size, T(1000)));
    }
    void expect_close(const pool_reference& expected) {
        const std::vector<T> actual = output.download();
        ASSERT_EQ(actual.size(), expected.value.size());
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const bool is_exact = expected.magnitude[i] == 0;
            ASSERT_TRUE(is_within(to_double(actual[i]), expected.value[i],
                                  is_exact ? 0
                                           : bounds::of_average<T>(expected.value[i], expected.magnitude[i],
                                                                   expected.pixels[i])))
                << "element " << i;
        }
        EXPECT_TRUE(output.canaries_alive());
        EXPECT_TRUE(input.untouched());
    }
};

/// One less and one more than packets, lines and tiles have; windows that a thread has, and that a block shares.
inline std::vector<pool_shape> pool_shapes() {
    std::vector<pool_shape> all = {
        {1, 1, 1, 1},
        {2, 9, 11, 8, {{3, 3}, {2, 2}, {1, 1, 1, 1}}},
        {2, 8, 8, 64, {{2, 2}, {2, 2}}},
        {1, 7, 6, 5, {{3, 2}, {1, 1}}},
        {1, 19, 35, 24, {{3, 3}, {1, 1}, {1, 1, 1, 1}}},
        {2, 6, 7, 72, {{1, 1}, {2, 3}}},
        {1, 10, 9, 7, {{4, 5}, {3, 1}, {0, 2, 1, 3}}},
        {1, 4, 4, 8, {{2, 2}, {3, 3}, {5, 4, 3, 6}}},  // windows of padding alone
        {1, 0, 0, 4, {{2, 1}, {1, 1}, {1, 2, 1, 0}}},
        {2, 12, 10, 16, {{7, 6}, {3, 2}, {3, 3, 2, 4}}},
        {1, 9, 8, 9, {{30, 20}, {5, 7}, {15, 20, 18, 9}}},
    };
    for (const std::int64_t channels : {1, 7, 8, 12, 31, 64, 72, 264})  // global
        for (const std::int64_t side : {1, 5, 6, 7, 33})
            all.push_back({2, side, side + 1, channels, {{side, side + 1}}});
    for (const std::int64_t channels :
         {1, 3, 8, 64})  // several batches of a cluster's threads, and one pixel more than these
        all.push_back({1, 129, 257, channels, {{129, 257}}});
    // As many packets as fill a device, so that a thread has a window of its own, whole or clipped.
    all.push_back({1, 36, 36, 512, {{7, 7}, {1, 1}, {3, 3, 3, 3}}});
    return all;
}

inline pool_shape draw_pool_shape(drawing& draw) {
    pool_shape s{draw(1, 3), draw(1, 24), draw(1, 24), draw(0, 1) == 0 ? draw(1, 70) : 8 * draw(1, 12)};
    pool_geometry& g = s.geometry;
    g.padding = {draw(0, 4), draw(0, 4), draw(0, 4), draw(0, 4)};
    const std::int64_t most = draw(0, 1) == 0 ? 3 : 32;
    g.window = {draw(1, std::min(most, s.height + g.padding.top + g.padding.bottom)),
                draw(1, std::min(most, s.width + g.padding.left + g.padding.right))};
    g.stride = {draw(1, 4), draw(1, 4)};
    return s;
}

}  // namespace heddle::test
