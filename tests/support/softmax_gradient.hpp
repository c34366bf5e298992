#pragma once

#include "tests/support/numeric.hpp"
#include <heddle/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// Roundings on the way of any one element to the sum over its row.
inline double softmax_gradient_depth(softmax_gradient_algorithm algorithm, std::int64_t cols) {
    const auto n = static_cast<double>(cols);
    const double naive = std::min(n, 4096.0) + n / 4096 + 1, block = n / 256 + 9, vectorized = 64 + n / 512;
    switch (algorithm) {
        case softmax_gradient_algorithm::naive:
            return naive;
        case softmax_gradient_algorithm::block_per_row:
            return block;
        case softmax_gradient_algorithm::vectorized:
            return vectorized;
        case softmax_gradient_algorithm::automatic:
            break;  // whichever it chose
    }
    return std::max(block, vectorized);
}

inline constexpr double softmax_gradient_depth_on_host = 2;  // in double

/// In double, whose own error is far below every bound; u = 2^-24. See docs/accuracy.md.
struct expected_softmax_gradient {
    std::vector<double> softmax, log_softmax;
    std::vector<double> bounds, log_bounds;

    /// y is the result of both: the gradients are formulas in y and dy.
    template <class T>
    expected_softmax_gradient(const std::vector<T>& y, const std::vector<T>& dy, std::int64_t cols,
                              double depth) {
        constexpr double u = 0x1p-24;
        // __expf: 2.5 ulp and 1.173 ulp a unit of the argument; expf: 1.5 ulp.
        constexpr double exp_error = sizeof(T) == 2 ? 5 : 3, exp_slope = sizeof(T) == 2 ? 2 * 1.173 : 0;
        const auto bound = [](double value, double first_order) {
            const double error = 1.02 * first_order;
            return error + (sizeof(T) == 2 ? unit_roundoff<T>() : 0) * (std::abs(value) + error) +
                   4 * smallest<T>();
        };
        const auto n = static_cast<std::size_t>(cols);
        for (std::size_t first = 0; first < y.size(); first += n) {
            double products = 0, sum = 0, of_products = 0, of_sum = 0;  // and of magnitudes
            for (std::size_t i = first; i < first + n; ++i) {
                const double g = to_double(dy[i]), product = g * to_double(y[i]);
                products += product;
                sum += g;
                of_products += std::abs(product);
                of_sum += std::abs(g);
            }
            for (std::size_t i = first; i < first + n; ++i) {
                const double share = to_double(y[i]), g = to_double(dy[i]);
                softmax.push_back(share * (g - products));
                bounds.push_back(bound(
                    softmax.back(),
                    std::abs(share) * u * ((depth + 1) * of_products + 3 * (std::abs(g) + of_products))));
                const double power = std::exp(share);
                const double exp_relative = exp_error + exp_slope * std::abs(share);
                log_softmax.push_back(g - power * sum);
                log_bounds.push_back(bound(
                    log_softmax.back(), u * (power * of_sum * (depth + exp_relative + 3) + 2 * std::abs(g))));
            }
        }
    }
};

}  // namespace heddle::test
