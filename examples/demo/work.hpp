#pragma once

#include "examples/support/image.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace demo {

using image = examples::image<std::uint8_t>;

/// The sizes of the operations. Those of the CPU are smaller, so that both devices take equally long.
struct work {
    std::int64_t vector;   ///< elements of a vector
    std::int64_t matrix;   ///< rows and columns of the matrices that are not multiplied
    std::int64_t product;  ///< rows and columns of the matrices that are multiplied
    image photo;

    static constexpr std::int64_t padding = 8;  ///< elements between two rows of the matrices that are added
    static constexpr double sigma = 3;          ///< the blur's
    static constexpr std::int64_t byte_values = 256;  ///< bins of the histogram

    [[nodiscard]] std::int64_t row_stride() const { return matrix + padding; }
};

/// The direction in which a matrix is summed.
enum class along { rows, columns };

/// Uniform in [low, high), the same in every run.
std::vector<float> random_numbers(std::int64_t size, float low, float high);

/// The largest error, as a share of the largest exact value. `exact(i)` is element i in float64. NaN counts
/// as the worst error.
template <class T, class Exact>
double largest_error(std::span<const T> results, Exact exact) {
    double error = 0, value = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double expected = exact(i);
        const double difference = std::abs(static_cast<double>(results[i]) - expected);
        if (!(difference <= error)) error = difference;
        if (std::abs(expected) > value) value = std::abs(expected);
    }
    return error == 0 ? 0 : error / value;
}

// The errors of each operation's result, against float64. Matrices are square and row-major.

double add_error(std::span<const float> x, std::span<const float> y, std::span<const float> z);
/// The matrices' rows are work.row_stride() elements apart.
double padded_add_error(const work& work, std::span<const float> x, std::span<const float> y,
                        std::span<const float> z);
double sigmoid_error(std::span<const float> x, std::span<const float> y);
double gelu_error(std::span<const float> x, std::span<const float> y);
double sum_error(std::span<const float> x, float sum);
double min_error(std::span<const float> x, float min);
double max_error(std::span<const float> x, float max);
/// The scan is inclusive.
double scan_error(std::span<const float> x, std::span<const float> y);
double row_sum_error(std::span<const float> x, std::span<const float> sums);
double column_sum_error(std::span<const float> x, std::span<const float> sums);
/// As shares of each row's largest exact value. layer_norm is without gamma and beta.
double softmax_error(std::span<const float> x, std::span<const float> y, std::int64_t size);
double layer_norm_error(std::span<const float> x, std::span<const float> y, std::int64_t size);
double transpose_error(std::span<const float> x, std::span<const float> y, std::int64_t size);
/// Checks only some rows: all of them would take longer than the demonstration.
double matmul_error(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                    std::int64_t size);
/// As a share of 255.
double blur_error(const image& source, const image& result, double sigma);
double histogram_error(std::span<const std::uint8_t> x, std::span<const std::int64_t> counts);

}  // namespace demo
