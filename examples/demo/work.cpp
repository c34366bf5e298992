#include "examples/demo/work.hpp"

#include <heddle/gaussian_blur.hpp>
#include <heddle/norm.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

namespace demo {
namespace {

std::span<const float> part(std::span<const float> all, std::int64_t first, std::int64_t size) {
    return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
}

/// The largest error of any row.
template <class Error>
double worst_of(std::int64_t rows, Error error_of_row) {
    double worst = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        const double error = error_of_row(row);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

}  // namespace

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
    return worst_of(work.matrix, [&](std::int64_t row) {
        const auto of = [&](std::span<const float> all) {
            return part(all, row * work.row_stride(), work.matrix);
        };
        return add_error(of(x), of(y), of(z));
    });
}

double sigmoid_error(std::span<const float> x, std::span<const float> y) {
    return largest_error(y, [&](std::size_t i) { return 1 / (1 + std::exp(-double{x[i]})); });
}

double gelu_error(std::span<const float> x, std::span<const float> y) {
    return largest_error(y, [&](std::size_t i) { return x[i] * std::erfc(-x[i] / std::numbers::sqrt2) / 2; });
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

double scan_error(std::span<const float> x, std::span<const float> y) {
    return largest_error(y, [&, sum = 0.0](std::size_t i) mutable { return sum += x[i]; });
}

double row_sum_error(std::span<const float> x, std::span<const float> sums) {
    const std::size_t cols = x.size() / sums.size();
    return largest_error(sums, [&](std::size_t row) {
        const auto values = x.subspan(row * cols, cols);
        return std::accumulate(values.begin(), values.end(), 0.0);
    });
}

double column_sum_error(std::span<const float> x, std::span<const float> sums) {
    std::vector<double> exact(sums.size());
    for (std::size_t i = 0; i < x.size(); ++i) exact[i % exact.size()] += x[i];
    return largest_error(sums, [&](std::size_t col) { return exact[col]; });
}

double softmax_error(std::span<const float> x, std::span<const float> y, std::int64_t size) {
    return worst_of(size, [&](std::int64_t row) {
        const auto values = part(x, row * size, size);
        double sum = 0;  // exponentials cannot overflow, as the data is small
        for (const float value : values) sum += std::exp(double{value});
        return largest_error(part(y, row * size, size),
                             [&](std::size_t i) { return std::exp(double{values[i]}) / sum; });
    });
}

double layer_norm_error(std::span<const float> x, std::span<const float> y, std::int64_t size) {
    return worst_of(size, [&](std::int64_t row) {
        const auto values = part(x, row * size, size);
        const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(size);
        double squares = 0;
        for (const float value : values) squares += (value - mean) * (value - mean);
        const double epsilon = heddle::norm_options{}.epsilon;
        const double deviation = std::sqrt(squares / static_cast<double>(size) + epsilon);
        return largest_error(part(y, row * size, size),
                             [&](std::size_t i) { return (values[i] - mean) / deviation; });
    });
}

double transpose_error(std::span<const float> x, std::span<const float> y, std::int64_t size) {
    const auto n = static_cast<std::size_t>(size);
    return largest_error(y, [&](std::size_t i) { return double{x[i % n * n + i / n]}; });
}

double matmul_error(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                    std::int64_t size) {
    constexpr std::int64_t rows = 32;
    const auto n = static_cast<std::size_t>(size);
    return worst_of(rows, [&](std::int64_t sample) {
        const std::int64_t row = sample * (size - 1) / (rows - 1);  // the first, the last, and some between
        const auto factors = part(a, row * size, size);
        std::vector<double> exact(n);
        for (std::size_t k = 0; k < n; ++k) {
            const double factor = factors[k];
            for (std::size_t col = 0; col < n; ++col) exact[col] += factor * b[k * n + col];
        }
        return largest_error(part(c, row * size, size), [&](std::size_t col) { return exact[col]; });
    });
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

double histogram_error(std::span<const std::uint8_t> x, std::span<const std::int64_t> counts) {
    std::vector<std::int64_t> exact(counts.size());
    for (const std::uint8_t value : x) ++exact[value];
    return largest_error(counts, [&](std::size_t bin) { return static_cast<double>(exact[bin]); });
}

}  // namespace demo
