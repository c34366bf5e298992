#include "examples/demo/work.hpp"

#include <heddle/gaussian_blur.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>

namespace demo {

std::vector<float> random_numbers(std::int64_t size, float low, float high) {
    std::mt19937 generator(1);
    std::vector<float> numbers(static_cast<std::size_t>(size));
    for (float& number : numbers)
        number = low + (high - low) * static_cast<float>(generator() >> 8) * 0x1p-24f;
    return numbers;
}

double add_error(std::span<const float> x, std::span<const float> y, std::span<const float> z) {
    return largest_error(z, [&](std::size_t i) { return double{x[i]} + double{y[i]}; });
}

double padded_add_error(const work& work, std::span<const float> x, std::span<const float> y,
                        std::span<const float> z) {
    double worst = 0;
    for (std::int64_t row = 0; row < work.matrix; ++row) {
        const auto part = [&](std::span<const float> all) {
            return all.subspan(static_cast<std::size_t>(row * work.row_stride()),
                               static_cast<std::size_t>(work.matrix));
        };
        const double error = add_error(part(x), part(y), part(z));
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

double sigmoid_error(std::span<const float> x, std::span<const float> y) {
    return largest_error(y, [&](std::size_t i) { return 1 / (1 + std::exp(-double{x[i]})); });
}

double sum_error(std::span<const float> x, float sum) {
    const double exact = std::accumulate(x.begin(), x.end(), 0.0);
    return largest_error(std::span<const float>(&sum, 1), [&](std::size_t) { return exact; });
}

double min_error(std::span<const float> x, float min) {
    const double exact = *std::ranges::min_element(x);
    return largest_error(std::span<const float>(&min, 1), [&](std::size_t) { return exact; });
}

double max_error(std::span<const float> x, float max) {
    const double exact = *std::ranges::max_element(x);
    return largest_error(std::span<const float>(&max, 1), [&](std::size_t) { return exact; });
}

double matmul_error(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                    std::int64_t size) {
    constexpr std::size_t rows = 32;
    const auto n = static_cast<std::size_t>(size);
    double worst = 0;
    for (std::size_t sample = 0; sample < rows; ++sample) {
        const std::size_t row = sample * (n - 1) / (rows - 1);  // the first, the last, and some between
        std::vector<double> exact(n);
        for (std::size_t k = 0; k < n; ++k) {
            const double factor = a[row * n + k];
            for (std::size_t col = 0; col < n; ++col) exact[col] += factor * b[k * n + col];
        }
        const double error =
            largest_error(c.subspan(row * n, n), [&](std::size_t col) { return exact[col]; });
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

double blur_error(const image& source, const image& result, double sigma) {
    const std::int64_t radius = heddle::gaussian_radius(sigma);
    std::vector<double> weights;
    for (std::int64_t i = -radius; i <= radius; ++i)
        weights.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);

    const auto index = [&](std::int64_t x, std::int64_t y, std::int64_t channel) {
        const std::int64_t column = std::clamp<std::int64_t>(x, 0, source.width - 1);
        const std::int64_t row = std::clamp<std::int64_t>(y, 0, source.height - 1);
        return static_cast<std::size_t>((row * source.width + column) * source.channels + channel);
    };
    // at(offset) is the value `offset` pixels away along one direction.
    const auto weighted = [&](auto at) {
        double sum = 0;
        for (std::int64_t i = -radius; i <= radius; ++i)
            sum += weights[static_cast<std::size_t>(i + radius)] * at(i);
        return sum / total;
    };
    std::vector<double> across(source.pixels.size()), exact(source.pixels.size());
    const auto for_each_value = [&](auto function) {
        for (std::int64_t y = 0; y < source.height; ++y)
            for (std::int64_t x = 0; x < source.width; ++x)
                for (std::int64_t channel = 0; channel < source.channels; ++channel) function(x, y, channel);
    };
    for_each_value([&](std::int64_t x, std::int64_t y, std::int64_t c) {
        across[index(x, y, c)] =
            weighted([&](std::int64_t i) { return static_cast<double>(source.pixels[index(x + i, y, c)]); });
    });
    for_each_value([&](std::int64_t x, std::int64_t y, std::int64_t c) {
        exact[index(x, y, c)] = weighted([&](std::int64_t i) { return across[index(x, y + i, c)]; });
    });
    double worst = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
        worst = std::max(worst, std::abs(result.pixels[i] - exact[i]));
    return worst / std::numeric_limits<std::uint8_t>::max();
}

}  // namespace demo
