#pragma once

#include "tests/bounds/approximate.hpp"
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

/// The additions and rescalings of a rung's sums, of exponentials and of others.
inline sum_steps loss_steps_of(loss_algorithm algorithm, std::int64_t cols) {
    using namespace row_words;
    const auto n = static_cast<double>(cols);
#define ROW(name, pays, additions, rescalings, ...) \
    {loss_algorithm::name, may_be_taken(#pays), {additions, rescalings}},
    return steps_of<loss_algorithm>(algorithm, {HEDDLE_LOSS_RUNGS(ROW)});
#undef ROW
}

/// The gradient of a loss. `error` bounds it where no number is denormal.
template <class T>
approximate loss_gradient(double value, double error, double scale) {
    return {value, stored_as<T>(value, error + (3 + 4 * std::abs(scale)) * smallest<float>())};
}

inline double smoothed_target(bool is_label, double smoothing, double cols) {
    return (is_label ? 1 - smoothing : 0) + smoothing / cols;
}

/// The error of a row's loss, whose label is `distance` below the largest logit. mean_distance is the mean distance
/// of all logits from the label's, times the smoothing.
inline double of_cross_entropy(double of_sum, double distance, double log_sum, double mean_distance,
                               const sum_steps& steps) {
    return of_sum / (1 - of_sum) + u * (distance + 3 * log_sum + 2 * (distance + log_sum)) +
           u * (steps.additions + 6) * mean_distance + smallest<float>();
}

/// The gradient of a logit that is `distance` below the largest of its row. `sum` is the sum of the row's exponentials.
template <class T>
approximate cross_entropy_gradient(double of_sum, double distance, double sum, double target, double scale) {
    const double share = std::exp(-distance) / sum, value = (share - target) * scale;
    const double relative = of_share<T>(of_sum, distance, 6);
    const double error =
        std::abs(scale) * ((1 + u) * relative * share + 5 * u * target) + u * std::abs(value);
    return loss_gradient<T>(value, error, scale);
}

template <class T>
approximate squared_error_gradient(double difference, double cols, double scale) {
    const double value = 2 * difference / cols * scale;
    return loss_gradient<T>(value, 5 * u * std::abs(value), scale);
}

/// In double, whose own error is far below every bound.
struct expected_loss {
    std::vector<double> loss, loss_bounds;
    std::vector<double> gradient, bounds;

  protected:
    void add_gradient(const approximate& of) {
        gradient.push_back(of.value);
        bounds.push_back(of.bound);
    }
};

struct expected_cross_entropy : expected_loss {
    template <class T>
    expected_cross_entropy(const std::vector<T>& x, const std::vector<std::int32_t>& labels,
                           std::int64_t cols, const cross_entropy_options& options, const sum_steps& steps) {
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
        return smoothed_target(static_cast<std::int64_t>(col) == label, smoothing, static_cast<double>(cols));
    }

    void fill(double value, std::int64_t cols) {
        loss.push_back(value);
        loss_bounds.push_back(0);
        gradient.insert(gradient.end(), static_cast<std::size_t>(cols), value);
        bounds.insert(bounds.end(), static_cast<std::size_t>(cols), 0);
    }

    template <class T>
    void add(const std::vector<T>& logits, std::int64_t label, const cross_entropy_options& options,
             const sum_steps& steps) {
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
        loss_bounds.push_back(of_cross_entropy(of_sum, d, log_sum, mean_distance, steps));

        for (std::size_t j = 0; j < x.size(); ++j)
            add_gradient(cross_entropy_gradient<T>(of_sum, distance(x[j], largest), sum,
                                                   target(j, label, smoothing, x.size()), scale));
    }
};

struct expected_squared_error : expected_loss {
    template <class T>
    expected_squared_error(const std::vector<T>& x, const std::vector<T>& t, std::int64_t cols, double scale,
                           const sum_steps& steps) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double difference = to_double(x[i]) - to_double(t[i]);
            sum += difference * difference;
            add_gradient(squared_error_gradient<T>(difference, static_cast<double>(cols), scale));
            if ((static_cast<std::int64_t>(i) + 1) % cols != 0) continue;
            loss.push_back(sum / static_cast<double>(cols));
            loss_bounds.push_back((steps.additions + 6) * u * loss.back() + 0x1p-140);
            sum = 0;
        }
    }
};

}  // namespace heddle::bounds
