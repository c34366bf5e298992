#pragma once

#include "tests/bounds/approximate.hpp"
#include "tests/bounds/numbers.hpp"
#include "tests/bounds/rung_steps.hpp"
#include <heddle/norm.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/// docs/accuracy.md, Softmax and norms.
namespace heddle::bounds {

/// The roundings of any one element on its way to a sum.
inline double norm_depth(norm_algorithm algorithm, std::int64_t cols) {
    using namespace row_words;
    const auto n = static_cast<double>(cols);
#define ROW(name, pays, additions, ...) {norm_algorithm::name, may_be_taken(#pays), {additions}},
    return steps_of<norm_algorithm>(algorithm, {HEDDLE_NORM_RUNGS(ROW)}).additions;
#undef ROW
}

inline constexpr double norm_depth_on_host = 2;  // in double

enum class norm_operation { layer_norm, rms_norm };

/// The moments of a row on which its results depend, in double.
struct row_moments {
    double mean = 0;       ///< 0 for rms_norm
    double magnitude = 0;  ///< the mean of |x|
    double square = 0;     ///< the mean of the squared deviations
};

/// In double, whose own error is far below every bound.
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

    /// The result for one element of a row with these moments.
    template <class T>
    expected_norm(norm_operation op, T x, const row_moments& row, float epsilon, double depth,
                  double gamma = 1, double beta = 0) {
        add(op, x, row, gamma, beta, epsilon, depth);
    }

  private:
    template <class T>
    void add(norm_operation op, T x, const row_moments& row, double gamma, double beta, double epsilon,
             double depth) {
        const double deviation = std::sqrt(row.square + epsilon);
        // The error of the mean, in deviations: it shifts every element, and adds to the variance.
        const double shift =
            op == norm_operation::layer_norm ? (depth + 8) * u * row.magnitude / deviation : 0;
        const double scale = ((depth + 8) * u + 2 * shift + shift * shift) / 2 + 4 * u;
        const double normal = (to_double(x) - row.mean) / deviation;
        const double error = std::abs(gamma) * (shift * (1 + scale) + std::abs(normal) * (scale + 3 * u)) +
                             u * (2 * std::abs(gamma * normal) + std::abs(beta));
        const double value = normal * gamma + beta;
        values.push_back(value);
        bounds.push_back(stored_as<T>(value, error + 3 * smallest<float>()));
    }
};

/// The roundings of any one element on its way to a sum over its row.
inline double norm_gradient_depth(norm_gradient_algorithm algorithm, std::int64_t cols) {
    using namespace row_words;
    const auto n = static_cast<double>(cols);
#define ROW(name, pays, additions, ...) {norm_gradient_algorithm::name, may_be_taken(#pays), {additions}},
    return steps_of<norm_gradient_algorithm>(algorithm, {HEDDLE_NORM_GRADIENT_RUNGS(ROW)}).additions;
#undef ROW
}

/// The roundings on the way to a sum down its column, never more than the number of rows.
inline double norm_gradient_column_depth(std::int64_t rows) {
    const auto m = static_cast<double>(rows);
    return std::min(m, 4096 + m / 4096 + 256);
}

/// A row as the gradients use it, in double.
struct normalised_row {
    bool is_centred;
    double mean, sigma;
    double sums, shift, scale;  ///< (A + 8) u, h and k of docs/accuracy.md

    normalised_row(norm_operation op, const row_moments& m, float epsilon, double depth)
        : is_centred(op == norm_operation::layer_norm),
          mean(m.mean),
          sigma(std::sqrt(m.square + static_cast<double>(epsilon))),
          sums((depth + 8) * u),
          shift(is_centred ? sums * m.magnitude / sigma : 0),
          scale((sums + 2 * shift + shift * shift) / 2 + 8 * u) {}

    [[nodiscard]] double z(double x) const { return (x - mean) / sigma; }
    /// The error of a z, or of a mean of |z| with weights that sum to `weight`.
    [[nodiscard]] double error_of_z(double of, double weight = 1) const {
        return (is_centred ? weight * shift * (1 + scale) : 0) + std::abs(of) * (scale + 3 * u);
    }
};

/// Means over a row of g = dy gamma, and of g z.
struct norm_gradient_means {
    double g = 0, gz = 0;                      ///< g is 0 for rms_norm
    double magnitude_g = 0, magnitude_gz = 0;  ///< means of |g| and |g z|
    double square_g = 0;                       ///< mean of g^2
};

/// The error of a gradient as a T; terms of u^2 are two hundredths more.
template <class T>
double of_norm_gradient(double value, double first_order) {
    return stored_as<T>(value, 1.02 * first_order + 3 * smallest<float>());
}

/// dx of one element.
template <class T>
approximate norm_gradient(const normalised_row& row, const norm_gradient_means& means, double g, double z) {
    const double error_g = row.is_centred ? row.sums * means.magnitude_g : 0;
    const double error_gz =
        row.error_of_z(means.magnitude_gz, means.magnitude_g) +
        row.sums * (means.magnitude_gz + (row.is_centred ? 3 * std::sqrt(means.square_g) : 0));
    const double value = (g - means.g - z * means.gz) / row.sigma;
    const double terms = std::abs(g) + std::abs(means.g) + std::abs(z * means.gz);
    // Products below float's normal numbers: g, g z, z times their mean, and the means themselves.
    const double denormal = (5 + 3 * std::abs(z)) * smallest<float>() / 2;
    const double error = error_g + std::abs(z) * error_gz +
                         (std::abs(means.gz) + error_gz) * row.error_of_z(z) + (row.scale + 6 * u) * terms;
    return {value, of_norm_gradient<T>(value, (error + denormal) / row.sigma)};
}

/// In double, whose own error is far below every bound.
struct expected_norm_gradient {
    std::vector<double> dx, dgamma, dbeta;
    std::vector<double> dx_bounds, dgamma_bounds, dbeta_bounds;

    template <class T>
    expected_norm_gradient(norm_operation op, const std::vector<T>& x, const std::vector<T>& gamma,
                           const std::vector<T>& dy, std::int64_t cols, float epsilon, double depth)
        : dgamma(static_cast<std::size_t>(cols)), dbeta(dgamma), dgamma_bounds(dgamma), dbeta_bounds(dgamma) {
        const auto n = static_cast<std::size_t>(cols);
        for (std::size_t first = 0; first < x.size(); first += n)
            add_row(op, x.data() + first, gamma, dy.data() + first, epsilon, depth);
        const std::int64_t rows = cols == 0 ? 0 : static_cast<std::int64_t>(x.size()) / cols;
        const double columns = norm_gradient_column_depth(rows),
                     denormal = static_cast<double>(rows) * smallest<float>() / 2;
        for (std::size_t i = 0; i < n; ++i) {
            // The bounds hold the error of z times |dy|. The magnitudes hold the sums of |dy z| and of |dy|.
            dgamma_bounds[i] = of_norm_gradient<T>(
                dgamma[i], dgamma_bounds[i] + (columns + 3) * u * magnitudes(i).z + denormal);
            dbeta_bounds[i] = of_norm_gradient<T>(dbeta[i], columns * u * magnitudes(i).dy);
        }
    }

  private:
    struct magnitude {
        double z = 0;
        double dy = 0;
    };

    magnitude& magnitudes(std::size_t col) {
        if (magnitudes_.empty()) magnitudes_.resize(dgamma.size());
        return magnitudes_[col];
    }

    template <class T>
    void add_row(norm_operation op, const T* x, const std::vector<T>& gamma, const T* dy, float epsilon,
                 double depth) {
        const std::size_t n = dgamma.size();
        const auto count = static_cast<double>(n);
        const bool is_centred = op == norm_operation::layer_norm;
        const auto g = [&](std::size_t i) {
            return to_double(dy[i]) * (gamma.empty() ? 1 : to_double(gamma[i]));
        };
        row_moments m;
        for (std::size_t i = 0; i < n; ++i) {
            if (is_centred) m.mean += to_double(x[i]) / count;
            m.magnitude += std::abs(to_double(x[i])) / count;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double deviation = to_double(x[i]) - m.mean;
            m.square += deviation * deviation / count;
        }
        const normalised_row row(op, m, epsilon, depth);
        const auto z = [&](std::size_t i) { return row.z(to_double(x[i])); };
        norm_gradient_means means;
        for (std::size_t i = 0; i < n; ++i) {
            if (is_centred) means.g += g(i) / count;
            means.gz += g(i) * z(i) / count;
            means.magnitude_g += std::abs(g(i)) / count;
            means.magnitude_gz += std::abs(g(i) * z(i)) / count;
            means.square_g += g(i) * g(i) / count;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const approximate of_x = norm_gradient<T>(row, means, g(i), z(i));
            dx.push_back(of_x.value);
            dx_bounds.push_back(of_x.bound);

            const double of_dy = to_double(dy[i]);
            dgamma[i] += of_dy * z(i);
            dbeta[i] += of_dy;
            dgamma_bounds[i] += std::abs(of_dy) * row.error_of_z(z(i));
            magnitudes(i).z += std::abs(of_dy * z(i));
            magnitudes(i).dy += std::abs(of_dy);
        }
    }

    std::vector<magnitude> magnitudes_;
};

}  // namespace heddle::bounds
