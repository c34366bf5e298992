#include "benchmarks/ladders/check.hpp"

namespace heddle::bench {
namespace {

std::vector<double> weights_of(std::int64_t radius, double sigma) {
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t i = -radius; i <= radius; ++i) {
        const double offset = static_cast<double>(i) / sigma;
        weights.push_back(std::exp(-offset * offset / 2));
        sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

template <class T>
accuracy check_of(const extents& shape, std::int64_t channels, std::string_view rung) {
    const std::int64_t width = shape[0], height = shape[1], radius = shape[2];
    const double sigma = static_cast<double>(radius) / 2;  // as the rows have it
    const auto algorithm = algorithm_of(rung, gaussian_blur_algorithms());
    const std::int64_t size = width * height * channels;
    const device_buffer<T> x = biased_on_device<T>(size);
    device_buffer<T> y = poisoned_on_device<T>(size);
    gaussian_blur<T>(image_view<const T>{x.data(), width, height, channels},
                     image_view<T>{y.data(), width, height, channels}, sigma, stream(),
                     {.radius = radius, .algorithm = algorithm, .kernel = rung});

    const std::vector<T> xs = on_host(x), ys = on_host(y);
    const std::vector<double> weights = weights_of(radius, sigma);
    constexpr bool is_float = std::is_same_v<T, float>;
    const double in_float = (2.0 * static_cast<double>(2 * radius + 1) + 4) * float_unit;
    // Half a level is the rounding of bytes; the rest is what whole numbers as weights may be off by.
    accuracy result{0, is_float ? in_float : 0.75, 0, is_float ? "of the largest value" : "levels"};
    constexpr std::int64_t most_rows = 32, most_cols = 32;
    for (const std::int64_t row : sampled(height, most_rows))
        for (const std::int64_t col : sampled(width, most_cols))
            for (std::int64_t channel = 0; channel < channels; ++channel) {
                double exact = 0;
                for (std::int64_t j = -radius; j <= radius; ++j)
                    for (std::int64_t i = -radius; i <= radius; ++i) {
                        const std::int64_t from_row = std::clamp<std::int64_t>(row + j, 0, height - 1);
                        const std::int64_t from_col = std::clamp<std::int64_t>(col + i, 0, width - 1);
                        exact += weights[static_cast<std::size_t>(j + radius)] *
                                 weights[static_cast<std::size_t>(i + radius)] *
                                 at(xs, (from_row * width + from_col) * channels + channel);
                    }
                const double off = std::abs(at(ys, (row * width + col) * channels + channel) - exact);
                result.error = worse(off, result.error);
                ++result.elements;
            }
    return result;
}

}  // namespace

accuracy check_gaussian_blur(std::string_view type, const extents& shape, std::string_view rung) {
    const std::int64_t channels = type.back() - '0';
    return type.starts_with("u8") ? check_of<std::uint8_t>(shape, channels, rung)
                                  : check_of<float>(shape, channels, rung);
}

}  // namespace heddle::bench
