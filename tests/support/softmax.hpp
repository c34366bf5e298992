#pragma once

#include "tests/support/numeric.hpp"
#include <heddle/device.hpp>
#include <heddle/softmax.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace heddle::test {

/// What a rung's sum goes through: additions on the way of any one element, and multiplications that bring a
/// partial sum up to a larger element, each of which costs an exponential too.
struct softmax_steps {
    double additions;
    double rescalings;
};

inline constexpr softmax_steps softmax_steps_on_host{2, 0};  // in double

inline softmax_steps softmax_steps_of(softmax_algorithm algorithm, std::int64_t cols) {
    const auto n = static_cast<double>(cols);
    const softmax_steps naive{std::min(n, 4096.0) + n / 4096 + 1, 0}, online{n / 256 + 9, n / 256 + 9},
        strips{n / 128 + 40, n / 128 + 40}, vectorized{64 + n / 512, 4 + n / 8192};
    switch (algorithm) {
        case softmax_algorithm::naive:
            return naive;
        case softmax_algorithm::online:
            return online;
        case softmax_algorithm::strips:
            return strips;
        case softmax_algorithm::vectorized:
            return vectorized;
        case softmax_algorithm::automatic:
            break;  // whichever it chose
    }
    return {std::max(strips.additions, vectorized.additions),
            std::max(strips.rescalings, vectorized.rescalings)};
}

/// Whether a rung runs a call on the current device. No rung refuses an alignment; all take an empty matrix.
template <class T>
bool takes(softmax_algorithm algorithm, const matrix_view<T>& x, const matrix_view<T>& y) {
    const softmax_problem problem{.rows = y.rows,
                                  .cols = y.cols,
                                  .unit_stride = y.cols == 1 || (x.col_stride == 1 && y.col_stride == 1),
                                  .element_bytes = sizeof(T)};
    const bool is_empty = y.rows == 0 || y.cols == 0;
    return is_empty || why_not(algorithm, problem, traits_of(current_device())).empty();
}

/// In double, whose own error is far below every bound. u = 2^-24. See docs/accuracy.md.
struct expected_softmax {
    std::vector<double> softmax, log_softmax;
    std::vector<double> bounds, log_bounds;

    template <class T>
    expected_softmax(const std::vector<T>& x, std::int64_t cols, const softmax_steps& steps) {
        for (auto row = x.begin(); row != x.end(); row += cols) {
            double largest = -std::numeric_limits<double>::infinity(), sum = 0;
            std::for_each(row, row + cols, [&](T e) { largest = std::max(largest, to_double(e)); });
            std::for_each(row, row + cols, [&](T e) { sum += std::exp(-distance(e, largest)); });
            std::for_each(row, row + cols, [&](T e) { add(e, largest, sum, cols, steps); });
        }
    }

    /// What one element becomes in a row of `cols`, whose largest element is `largest` and exp(x - largest) sums to `sum`.
    template <class T>
    expected_softmax(T x, double largest, double sum, std::int64_t cols, const softmax_steps& steps) {
        add(x, largest, sum, cols, steps);
    }

  private:
    template <class T>
    static double distance(T e, double largest) {
        return to_double(e) == largest ? 0 : largest - to_double(e);
    }

    template <class T>
    void add(T e, double largest, double sum, std::int64_t cols, const softmax_steps& steps) {
        constexpr double u = 0x1p-24;
        // expf: 1.5 ulp = 3u from the exact value. __expf: 2.5 ulp and 1.173 ulp a unit of the argument. An
        // argument of distance d is rounded itself, by d u.
        constexpr double exp_error = sizeof(T) == 2 ? 5 : 3;
        constexpr double exp_slope = sizeof(T) == 2 ? 1 + 2 * 1.173 : 1;

        const double log_sum = std::log(sum);
        // The elements' distances, weighted by their shares of the sum, come to log(cols) at most.
        const double sum_error = u * (exp_slope * std::log(static_cast<double>(cols)) + 3 * exp_error +
                                      steps.additions + steps.rescalings * (exp_error + 2));
        const double d = distance(e, largest);
        const double share = std::exp(-d) / sum;
        const double argument = std::isinf(d) ? 0 : d;  // its exponential is exactly 0
        const double first_order = sum_error + u * (exp_slope * argument + 2 * exp_error + 4);
        const double relative = first_order / (1 - first_order);
        const double rounding = sizeof(T) == 2 ? unit_roundoff<T>() * (1 + relative) : 0;
        softmax.push_back(share);
        bounds.push_back((relative + rounding) * share + 4 * smallest<T>());

        const double logarithm = -d - log_sum;
        const double error =
            sum_error / (1 - sum_error) + u * (argument + 3 * log_sum + std::abs(argument + log_sum));
        log_softmax.push_back(logarithm);
        log_bounds.push_back(
            error + (sizeof(T) == 2 ? unit_roundoff<T>() : 0) * (std::abs(argument + log_sum) + error) +
            smallest<T>());
    }
};

}  // namespace heddle::test
