#pragma once

#include "tests/bounds/numbers.hpp"
#include "tests/bounds/rung_steps.hpp"
#include <heddle/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// docs/accuracy.md, Softmax and norms.
namespace heddle::bounds {

inline constexpr sum_steps softmax_steps_on_host{2, 0};  // in double

inline sum_steps softmax_steps_of(softmax_algorithm algorithm, std::int64_t cols) {
    using namespace row_words;
    const auto n = static_cast<double>(cols);
#define ROW(name, pays, additions, rescalings, ...) \
    {softmax_algorithm::name, may_be_taken(#pays), {additions, rescalings}},
    return steps_of<softmax_algorithm>(algorithm, {HEDDLE_SOFTMAX_RUNGS(ROW)});
#undef ROW
}

/// The error in u against the exact value: 1.5 ulp for expf; 2.5 ulp, and 1.173 ulp a unit of the argument, for __expf.
template <class T>
inline constexpr double exp_error = sizeof(T) == 2 ? 5 : 3;
template <class T>
inline constexpr double exp_slope = sizeof(T) == 2 ? 2 * 1.173 : 0;

/// The relative error of a sum of exponentials. The elements' distances, weighted by their shares of the sum, sum to
/// at most log(cols). An argument of distance d is itself rounded, by d u.
template <class T>
double of_exponentials(std::int64_t cols, const sum_steps& steps) {
    return u * ((1 + exp_slope<T>)*std::log(static_cast<double>(cols)) + 3 * exp_error<T> + steps.additions +
                steps.rescalings * (exp_error<T> + 2));
}

/// The relative error of an element's share of that sum, with so many roundings.
template <class T>
double of_share(double of_sum, double distance, double roundings) {
    const double argument = std::isinf(distance) ? 0 : distance;  // its exponential is exactly 0
    const double first_order = of_sum + u * ((1 + exp_slope<T>)*argument + 2 * exp_error<T> + roundings);
    return first_order / (1 - first_order);
}

/// In double, whose own error is far below every bound.
struct expected_softmax {
    std::vector<double> softmax, log_softmax;
    std::vector<double> bounds, log_bounds;

    template <class T>
    expected_softmax(const std::vector<T>& x, std::int64_t cols, const sum_steps& steps) {
        for (auto row = x.begin(); row != x.end(); row += cols) {
            double largest = -std::numeric_limits<double>::infinity(), sum = 0;
            std::for_each(row, row + cols, [&](T e) { largest = std::max(largest, to_double(e)); });
            std::for_each(row, row + cols, [&](T e) { sum += std::exp(-distance(e, largest)); });
            std::for_each(row, row + cols, [&](T e) { add(e, largest, sum, cols, steps); });
        }
    }

    /// The result for one element of a row of `cols`, with its `largest` element and `sum` of exp(x - largest).
    template <class T>
    expected_softmax(T x, double largest, double sum, std::int64_t cols, const sum_steps& steps) {
        add(x, largest, sum, cols, steps);
    }

  private:
    template <class T>
    static double distance(T e, double largest) {
        return to_double(e) == largest ? 0 : largest - to_double(e);
    }

    template <class T>
    void add(T e, double largest, double sum, std::int64_t cols, const sum_steps& steps) {
        const double log_sum = std::log(sum), of_sum = of_exponentials<T>(cols, steps);
        const double d = distance(e, largest), argument = std::isinf(d) ? 0 : d;
        const double share = std::exp(-d) / sum;
        softmax.push_back(share);
        bounds.push_back(stored_as<T>(share, of_share<T>(of_sum, d, 4) * share + 3 * smallest<float>()));

        const double logarithm = -d - log_sum;
        const double error =
            of_sum / (1 - of_sum) + u * (argument + 3 * log_sum + std::abs(argument + log_sum));
        log_softmax.push_back(logarithm);
        log_bounds.push_back(stored_as<T>(argument + log_sum, error));
    }
};

/// The roundings of any one element on its way to the sum over its row.
inline double softmax_gradient_depth(softmax_gradient_algorithm algorithm, std::int64_t cols) {
    using namespace row_words;
    const auto n = static_cast<double>(cols);
#define ROW(name, pays, additions, ...) {softmax_gradient_algorithm::name, may_be_taken(#pays), {additions}},
    return steps_of<softmax_gradient_algorithm>(algorithm, {HEDDLE_SOFTMAX_GRADIENT_RUNGS(ROW)}).additions;
#undef ROW
}

inline constexpr double softmax_gradient_depth_on_host = 2;  // in double

/// The sums of a row on which its gradients depend, in double.
struct softmax_gradient_sums {
    double products = 0, sum = 0;        ///< sums of dy y, and of dy
    double of_products = 0, of_sum = 0;  ///< sums of their magnitudes
};

/// In double, whose own error is far below every bound.
struct expected_softmax_gradient {
    std::vector<double> softmax, log_softmax;
    std::vector<double> bounds, log_bounds;

    /// y is the result of the softmax or its logarithm: the gradients are formulas in y and dy.
    template <class T>
    expected_softmax_gradient(const std::vector<T>& y, const std::vector<T>& dy, std::int64_t cols,
                              double depth) {
        const auto n = static_cast<std::size_t>(cols);
        for (std::size_t first = 0; first < y.size(); first += n) {
            softmax_gradient_sums row;
            for (std::size_t i = first; i < first + n; ++i) {
                const double g = to_double(dy[i]), product = g * to_double(y[i]);
                row.products += product;
                row.sum += g;
                row.of_products += std::abs(product);
                row.of_sum += std::abs(g);
            }
            for (std::size_t i = first; i < first + n; ++i) add(y[i], dy[i], row, depth);
        }
    }

    /// The gradient of one element of a row with these sums.
    template <class T>
    expected_softmax_gradient(T y, T dy, const softmax_gradient_sums& row, double depth) {
        add(y, dy, row, depth);
    }

  private:
    template <class T>
    void add(T y, T dy, const softmax_gradient_sums& row, double depth) {
        const auto bound = [](double value, double first_order) {
            return stored_as<T>(value, 1.02 * first_order + 3 * smallest<float>());
        };
        const double share = to_double(y), g = to_double(dy), power = std::exp(share);
        softmax.push_back(share * (g - row.products));
        bounds.push_back(bound(
            softmax.back(),
            std::abs(share) * u * ((depth + 1) * row.of_products + 3 * (std::abs(g) + row.of_products))));
        const double of_power = exp_error<T> + exp_slope<T> * std::abs(share);
        log_softmax.push_back(g - power * row.sum);
        log_bounds.push_back(
            bound(log_softmax.back(), u * (power * row.of_sum * (depth + of_power + 3) + 2 * std::abs(g))));
    }
};

}  // namespace heddle::bounds
