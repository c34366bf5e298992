#pragma once

#include "tests/support/numeric.hpp"
#include <heddle/device.hpp>
#include <heddle/norm.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// Roundings on the way of any one element to a sum.
inline double norm_depth(norm_algorithm algorithm, std::int64_t cols) {
    const auto n = static_cast<double>(cols);
    const double naive = std::min(n, 4096.0) + n / 4096 + 1, block = n / 256 + 9, strips = n / 128 + 40,
                 vectorized = 64 + n / 512;
    switch (algorithm) {
        case norm_algorithm::naive:
            return naive;
        case norm_algorithm::block_per_row:
            return block;
        case norm_algorithm::strips:
            return strips;
        case norm_algorithm::vectorized:
            return vectorized;
        case norm_algorithm::automatic:
            break;  // whichever it chose
    }
    return std::max(strips, vectorized);
}

inline constexpr double norm_depth_on_host = 2;  // in double

/// Whether a rung runs a call on the current device; gamma and beta may be empty. No rung refuses an alignment; all take an
/// empty matrix.
template <class T>
bool takes(norm_algorithm algorithm, const matrix_view<T>& x, const vector_view<T>& gamma,
           const vector_view<T>& beta, const matrix_view<T>& y) {
    const auto is_side_by_side = [](const vector_view<T>& v) { return v.size == 0 || v.stride == 1; };
    const norm_problem problem{
        .rows = y.rows,
        .cols = y.cols,
        .unit_stride = y.cols == 1 || (x.col_stride == 1 && y.col_stride == 1 && is_side_by_side(gamma) &&
                                       is_side_by_side(beta)),
        .element_bytes = sizeof(T)};
    const bool is_empty = y.rows == 0 || y.cols == 0;
    return is_empty || why_not(algorithm, problem, traits_of(current_device())).empty();
}

enum class norm_operation { layer_norm, rms_norm };

/// What a row's results depend on, in double.
struct row_moments {
    double mean = 0;       ///< 0 for rms_norm
    double magnitude = 0;  ///< the mean of |x|
    double square = 0;     ///< the mean of the squared deviations
};

/// In double, whose own error is far below every bound; u = 2^-24. See docs/accuracy.md.
struct expected_norm {
    std::vector<double> values;
    std::vector<double> bounds;

    template <class T>
    expected_norm(norm_operation op, const std::vector<T>& x, const std::vector<T>& gamma,
                  const std::vector<T>& beta, std::int64_t cols, float epsilon, double depth) {
        for (auto row = x.begin(); row != x.end(); row += cols) {
            const auto n = static_cast<double>(cols);
            row_moments m;
            std::for_each(row, row + cols, [&](T e) {
                if (op == norm_operation::layer_norm) m.mean += to_double(e) / n;
                m.magnitude += std::abs(to_double(e)) / n;
            });
            std::for_each(row, row + cols,
                          [&](T e) { m.square += (to_double(e) - m.mean) * (to_double(e) - m.mean) / n; });
            for (std::int64_t i = 0; i < cols; ++i)
                add(op, row[i], m, gamma.empty() ? 1 : to_double(gamma[static_cast<std::size_t>(i)]),
                    beta.empty() ? 0 : to_double(beta[static_cast<std::size_t>(i)]), epsilon, depth);
        }
    }

    /// What one element of a row with these moments becomes, without parameters.
    template <class T>
    expected_norm(norm_operation op, T x, const row_moments& row, float epsilon, double depth) {
        add(op, x, row, 1, 0, epsilon, depth);
    }

  private:
    template <class T>
    void add(norm_operation op, T x, const row_moments& row, double gamma, double beta, double epsilon,
             double depth) {
        constexpr double u = 0x1p-24;
        const double deviation = std::sqrt(row.square + epsilon);
        // What the mean is off by, in deviations: it shifts every element, and adds to the variance.
        const double shift =
            op == norm_operation::layer_norm ? (depth + 8) * u * row.magnitude / deviation : 0;
        const double scale = ((depth + 8) * u + 2 * shift + shift * shift) / 2 + 4 * u;
        const double normal = (to_double(x) - row.mean) / deviation;
        const double error =
            1.02 * (std::abs(gamma) * (shift * (1 + scale) + std::abs(normal) * (scale + 3 * u)) +
                    u * (2 * std::abs(gamma * normal) + std::abs(beta)));
        const double value = normal * gamma + beta;
        values.push_back(value);
        bounds.push_back(error + (sizeof(T) == 2 ? unit_roundoff<T>() : 0) * (std::abs(value) + error) +
                         4 * smallest<T>());
    }
};

}  // namespace heddle::test
