#pragma once

#include "tests/bounds/windows.hpp"
#include "tests/gaussian_blur/problem.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {

inline std::vector<double> blur_in_double(const problem& p, const std::vector<double>& source) {
    return convolved_in_double(p, p.border, bounds::gaussian(p.sigma.x, p.radius.x),
                               bounds::gaussian(p.sigma.y, p.radius.y), source, border_value);
}

/// The same of one pixel, from its window alone: of images too large to be blurred here as a whole.
/// `pixel(x, y)` is the source's, of one channel.
template <class Pixel>
double pixel_in_double(const problem& p, std::int64_t x, std::int64_t y, Pixel pixel) {
    const std::vector<double> taps_x = bounds::gaussian(p.sigma.x, p.radius.x),
                              taps_y = bounds::gaussian(p.sigma.y, p.radius.y);
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

inline bool is_on_tensor_cores(algorithm which) {
    return std::ranges::find(bounds::tensor_core_blurs, which) != bounds::tensor_core_blurs.end();
}

/// decimated and the rungs on tensor cores have terms of their own, before a result is rounded to its type.
template <class T>
class bound {
  public:
    bound(const problem& p, double largest, algorithm which = algorithm::naive) {
        const auto nx = static_cast<double>(2 * p.radius.x + 1), ny = static_cast<double>(2 * p.radius.y + 1);
        relative_ = bounds::of_passes(nx, ny, true);
        absolute_ = bounds::of_blurred_denormals(nx, ny, largest);
        if (which != algorithm::automatic || std::is_same_v<T, std::uint8_t>)
            absolute_ += bounds::of_whole_numbers(which, bounds::gaussian(p.sigma.x, p.radius.x),
                                                  bounds::gaussian(p.sigma.y, p.radius.y), p.channels);
        if (which == algorithm::decimated) absolute_ += bounds::of_decimated * largest;
    }

    /// `magnitude`: the blur of |source|.
    double operator()(double magnitude) const {
        return bounds::pixel_of<T>(magnitude, relative_ * magnitude + absolute_);
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
