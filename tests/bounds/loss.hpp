#pragma once

#include "tests/bounds/softmax.hpp"
#include <heddle/loss.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// docs/accuracy.md, Losses.
namespace heddle::bounds {

/// What a rung's sums go through, of exponentials as of others.
inline softmax_steps loss_steps_of(loss_algorithm algorithm, std::int64_t cols) {
    const auto n = static_cast<double>(cols);
    const softmax_steps naive{std::min(n, 4096.0) + n / 4096 + 1, 0}, warp_per_row{n / 32 + 6, n / 32 + 2},
        vectorized{64 + n / 512, 4 + n / 8192};
    switch (algorithm) {
        case loss_algorithm::naive:
            return naive;
        case loss_algorithm::warp_per_row:
            return warp_per_row;
        case loss_algorithm::vectorized:
            return vectorized;
        case loss_algorithm::automatic:
            break;  // whichever it chose
    }
    return {std::max(warp_per_row.additions, vectorized.additions),
            std::max(warp_per_row.rescalings, vectorized.rescalings)};
}

/// In double, whose own error is far below every bound.
struct expected_loss {
    std::vector<double> loss, loss_bounds;
    std::vector<double> gradient, bounds;

  protected:
    template <class T>
    void add_gradient(double value, double error, double scale) {
        gradient.push_back(value);
        bounds.push_back(stored_as<T>(value, error + (3 + 4 * std::abs(scale)) * smallest<float>()));
    }
};

struct expected_cross_entropy : expected_loss {
    template <class T>
    expected_cross_entropy(const std::vector<T>& x, const std::vector<std::int32_t>& labels,
                           std::int64_t cols, const cross_entropy_options& options,
                           const softmax_steps& steps) {
        auto row = x.begin();
        for (const std::int32_t label : labels) {
            const std::vector<T> logits(row, row + cols);
            if (options.ignore_label && label == *options.ignore_label)
                fill(0, cols);
            else if (label < 0 || label >= cols)
                fill(std::numeric_limits<double>::quiet_NaN(), cols);
            else
                add(logits, label, options, steps);
            row += cols;
        }
    }

    /// -sum of q log(p); terms whose q is 0 do not count.
    static double loss_of(const std::vector<double>& x, std::int64_t label, double smoothing) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0, loss = 0;
        for (const double e : x) largest = std::max(largest, e);
        for (const double e : x) sum += std::exp(-distance(e, largest));
        for (std::size_t j = 0; j < x.size(); ++j) {
            const double q = target(j, label, smoothing, x.size());
            if (q > 0 || std::isnan(sum)) loss += q * (distance(x[j], largest) + std::log(sum));
        }
        return loss;
    }

  private:
    static double distance(double e, double largest) { return e == largest ? 0 : largest - e; }

    static double target(std::size_t col, std::int64_t label, double smoothing, std::size_t cols) {
        const bool is_label = static_cast<std::int64_t>(col) == label;
        return (is_label ? 1 - smoothing : 0) + smoothing / static_cast<double>(cols);
    }

    void fill(double value, std::int64_t cols) {
        loss.push_back(value);
        loss_bounds.push_back(0);
        gradient.insert(gradient.end(), static_cast<std::size_t>(cols), value);
        bounds.insert(bounds.end(), static_cast<std::size_t>(cols), 0);
    }

    template <class T>
    void add(const std::vector<T>& logits, std::int64_t label, const cross_entropy_options& options,
             const softmax_steps& steps) {
        std::vector<double> x;
        for (const T e : logits) x.push_back(to_double(e));
        const auto cols = static_cast<double>(x.size());
        const double smoothing = static_cast<double>(options.label_smoothing),
                     scale = static_cast<double>(options.scale);
        const double logit = x[static_cast<std::size_t>(label)];
        double largest = -std::numeric_limits<double>::infinity(), sum = 0, distances = 0;
        for (const double e : x) largest = std::max(largest, e);
        for (const double e : x) sum += std::exp(-distance(e, largest));
        for (const double e : x) distances += e == logit ? 0 : std::abs(e - logit);

        const double of_sum = of_exponentials<T>(static_cast<std::int64_t>(x.size()), steps);
        const double d = distance(logit, largest), log_sum = std::log(sum);
        const double mean_distance = smoothing > 0 ? smoothing * distances / cols : 0;
        loss.push_back(loss_of(x, label, smoothing));
        loss_bounds.push_back(of_sum / (1 - of_sum) + u * (d + 3 * log_sum + 2 * (d + log_sum)) +
                              u * (steps.additions + 6) * mean_distance + smallest<float>());

        for (std::size_t j = 0; j < x.size(); ++j) {
            const double q = target(j, label, smoothing, x.size()), to_largest = distance(x[j], largest);
            const double share = std::exp(-to_largest) / sum;
            const double relative = of_share<T>(of_sum, to_largest, 6);
            const double value = (share - q) * scale;
            const double error =
                std::abs(scale) * ((1 + u) * relative * share + 5 * u * q) + u * std::abs(value);
            add_gradient<T>(value, error, scale);
        }
    }
};

struct expected_squared_error : expected_loss {
    template <class T>
    expected_squared_error(const std::vector<T>& x, const std::vector<T>& t, std::int64_t cols, double scale,
                           const softmax_steps& steps) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double difference = to_double(x[i]) - to_double(t[i]);
            sum += difference * difference;
            const double value = 2 * difference / static_cast<double>(cols) * scale;
            add_gradient<T>(value, 5 * u * std::abs(value), scale);
            if ((static_cast<std::int64_t>(i) + 1) % cols != 0) continue;
            loss.push_back(sum / static_cast<double>(cols));
            loss_bounds.push_back((steps.additions + 6) * u * loss.back() + 0x1p-140);
            sum = 0;
        }
    }
};

}  // namespace heddle::bounds
