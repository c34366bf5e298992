#pragma once

#include "tests/gaussian_blur/problem.hpp"

#include <cmath>
#include <type_traits>

namespace heddle::test {

inline std::vector<double> taps_of(double sigma, std::int64_t radius) {
    std::vector<double> taps;
    double sum = 0;
    for (std::int64_t i = -radius; i <= radius; ++i) {
        taps.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
        sum += taps.back();
    }
    for (double& tap : taps) tap /= sum;
    return taps;
}

inline std::vector<double> blur_in_double(const problem& p, const std::vector<double>& source) {
    return convolved_in_double(p, p.border, taps_of(p.sigma.x, p.radius.x), taps_of(p.sigma.y, p.radius.y),
                               source, border_value);
}

/// The same of one pixel, from its window alone: of images too large to be blurred here as a whole.
/// `pixel(x, y)` is the source's, of one channel.
template <class Pixel>
double pixel_in_double(const problem& p, std::int64_t x, std::int64_t y, Pixel pixel) {
    const std::vector<double> taps_x = taps_of(p.sigma.x, p.radius.x),
                              taps_y = taps_of(p.sigma.y, p.radius.y);
    double sum = 0;
    for (std::int64_t dy = -p.radius.y; dy <= p.radius.y; ++dy) {
        const std::int64_t row = source_index(y + dy, p.height, p.border);
        double row_sum = 0;
        for (std::int64_t dx = -p.radius.x; dx <= p.radius.x; ++dx) {
            const std::int64_t column = source_index(x + dx, p.width, p.border);
            row_sum += taps_x[static_cast<std::size_t>(dx + p.radius.x)] *
                       (row < 0 || column < 0 ? double{border_value} : pixel(column, row));
        }
        sum += taps_y[static_cast<std::size_t>(dy + p.radius.y)] * row_sum;
    }
    return sum;
}

inline constexpr std::array tensor_core_rungs = {algorithm::mma_xy, algorithm::mma_x_registers_y,
                                                 algorithm::wgmma_xy, algorithm::mma_xy_by_channel};
inline bool is_on_tensor_cores(algorithm which) {
    return std::ranges::find(tensor_core_rungs, which) != tensor_core_rungs.end();
}

/// Whether its window is one of theirs.
inline bool takes_window(const problem& p, algorithm on_tensor_cores) {
    if (on_tensor_cores == algorithm::mma_x_registers_y)
        return p.radius.y <= 8 && p.radius.x * p.channels <= 8;
    if (on_tensor_cores == algorithm::wgmma_xy) return p.radius.y <= 16 && p.radius.x <= 32;
    if (on_tensor_cores == algorithm::mma_xy_by_channel) return p.radius.y <= 8 && p.radius.x <= 8;
    return std::max(p.radius.x, p.radius.y) <= 40;
}

/// docs/accuracy.md: what these rungs' sums are off by, in levels of uint8.
inline double tensor_core_error(const problem& p, algorithm which) {
    if (which == algorithm::mma_x_registers_y) {  // floats along y
        const auto n = static_cast<double>(2 * p.radius.x + 1);
        return 127.5 * n / (0x1p15 - n);
    }
    const bool has_whole_sums = which == algorithm::wgmma_xy || which == algorithm::mma_xy_by_channel;
    const auto of_axis = [=](double sigma, std::int64_t radius, double of_tap, double of_sum) {
        const std::vector<double> taps = taps_of(sigma, radius);
        const auto n = static_cast<double>(taps.size());
        const double units =
            (has_whole_sums ? 0.9 : 1) * std::min(0x1p15 / *std::ranges::max_element(taps), 0x1p19) -
            n;  // roundings of weights
        return (of_tap * n + of_sum) / units;
    };
    const double of_sums_along_y = has_whole_sums ? of_axis(p.sigma.y, p.radius.y, 127.5 + 1, 1)
                                                  : of_axis(p.sigma.y, p.radius.y, 127.5 + 2, 1);
    return of_axis(p.sigma.x, p.radius.x, 127.5, 0) + of_sums_along_y + (has_whole_sums ? 0x1p-17 : 0x1p-15) +
           2 * 255 * 0x1p-23;
}

/// docs/accuracy.md: what decimated's sums are off by, beside a window cut at 4 sigma, in parts of the largest pixel.
inline constexpr double decimated_error = 2.7e-4;

/// docs/accuracy.md: each pass rounds n taps once and n sums once each. Where they are denormal each is off
/// by up to half the smallest number instead, and a tap's error is multiplied with an element: n (1 +
/// largest) times the smallest number for both passes. The + 1 each leaves room for what is of second order.
/// decimated and those on the tensor cores have terms of their own, before a result is rounded to its type. Of uint8
/// `automatic` may be any of these that takes the window.
template <class T>
class bound {
  public:
    bound(const problem& p, double largest, algorithm which = algorithm::naive) {
        const auto n = static_cast<double>(p.radius.x + p.radius.y + 1);
        relative_ = (2 * n + 4) * unit_roundoff<float>();
        absolute_ = (n + 1) * (1 + largest) * smallest<float>();
        if (which == algorithm::automatic && std::is_same_v<T, std::uint8_t>) {
            double most = 0;
            for (const algorithm rung : tensor_core_rungs)
                if (takes_window(p, rung)) most = std::max(most, tensor_core_error(p, rung));
            absolute_ += most;
        }
        if (is_on_tensor_cores(which)) absolute_ += tensor_core_error(p, which);
        if (which == algorithm::decimated) absolute_ += decimated_error * largest;
    }

    /// `magnitude`: the blur of |source|.
    double operator()(double magnitude) const {
        const double sum = relative_ * magnitude + absolute_;
        if constexpr (std::is_integral_v<T>) return 0.5 + sum;
        if constexpr (std::is_same_v<T, half>)
            return sum + unit_roundoff<half>() * (magnitude + sum) + smallest<half>();
        return sum;
    }

  private:
    double relative_, absolute_;
};

struct reference {
    std::vector<double> values;
    std::vector<double> magnitudes;  ///< the blur of |source|, which the bound is relative to
    double largest = border_value;   ///< of |source|

    template <class T>
    reference(const problem& p, const std::vector<T>& source) {
        std::vector<double> elements(source.size());
        std::ranges::transform(source, elements.begin(), to_double<T>);
        values = magnitudes = blur_in_double(p, elements);
        if constexpr (!std::is_integral_v<T>) {
            for (double& element : elements) element = std::abs(element);
            magnitudes = blur_in_double(p, elements);
        }
        for (const double element : elements)
            if (std::isfinite(element)) largest = std::max(largest, element);
    }

    /// The reference for a part of the image.
    [[nodiscard]] reference of(const problem& p, const image_region& region) const {
        reference part = *this;
        part.values = part_of(p, values, region);
        part.magnitudes = part_of(p, magnitudes, region);
        return part;
    }
};

template <class T>
void expect_close(const problem& p, const std::vector<T>& actual, const reference& expected,
                  algorithm which = algorithm::naive) {
    ASSERT_EQ(actual.size(), expected.values.size());
    const bound<T> allowed(p, expected.largest, which);
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(is_within(to_double(actual[i]), expected.values[i], allowed(expected.magnitudes[i])))
            << "value " << i;
}
template <class T>
void expect_close(const problem& p, const std::vector<T>& actual, const std::vector<T>& source,
                  algorithm which = algorithm::naive) {
    expect_close(p, actual, reference(p, source), which);
}

}  // namespace heddle::test
