#pragma once

#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/// What results are compared with: in float64, by kernels that are plainly right. Sums are compensated, so that they are good
/// enough to judge float64 by.
namespace heddle::bench::cliffs {

/// Elements of an operand, `stride` apart.
struct line {
    std::int64_t first = 0;
    std::int64_t stride = 1;
    std::int64_t size = 0;
};

/// What a sum is off by at most, as a share of the sum of magnitudes, where no element passes through more than `depth`
/// additions: depth u is proven. Where elements are drawn at random, roundings are about as often up as down and their errors
/// grow as the square root. Along one level of the tree of additions the partial sums are at most the sum of magnitudes, so the
/// squares of all are at most depth times its square, and the chance of an error of more than 16 of those roots is below 1e-50
/// (Hoeffding; Higham and Mary, 2019).
inline double error_of_additions(double depth, double u) {
    const double likely = 16 * std::sqrt(depth) * u;
    return depth * u < 1 ? std::min(likely, depth * u / (1 - depth * u)) : likely;
}

template <class T>
line row_of(const matrix_view<T>& m, std::int64_t row) {
    return {row * m.row_stride, m.col_stride, m.cols};
}
template <class T>
line column_of(const matrix_view<T>& m, std::int64_t col) {
    return {col * m.col_stride, m.row_stride, m.rows};
}

struct line_facts {
    double sum = 0;
    double magnitudes = 0;    ///< the sum of |x|
    double squares = 0;       ///< the sum of x^2
    double deviations = 0;    ///< the sum of (x - mean)^2
    double exponentials = 0;  ///< the sum of exp(x - largest)
    double smallest = 0;
    double largest = 0;
    std::int64_t first_smallest = -1;
    std::int64_t first_largest = -1;
    std::int64_t nonzero = 0;
};

/// T is float, double, half, bfloat16, int32_t or int64_t.
template <class T>
std::vector<line_facts> facts_of(const T* data, const std::vector<line>& lines);

struct dot_facts {
    double sum = 0;
    double magnitudes = 0;  ///< the sum of |x y|
    double x_squares = 0;
    double y_squares = 0;
};

/// The dot products of lines of x and lines of y, one by one. T is as above. Where there are factors, as many as a line has
/// elements, each element of y is multiplied by its own.
template <class T>
std::vector<dot_facts> dots_of(const T* x, const std::vector<line>& x_lines, const T* y,
                               const std::vector<line>& y_lines, const T* factors = nullptr);

struct pixel {
    std::int64_t x, y, channel;
};

struct window_facts {
    double sum = 0, magnitudes = 0;

    __host__ __device__ void add(const window_facts& other) {
        sum += other.sum;
        magnitudes += other.magnitudes;
    }
};

/// The sum over windows of taps_x[i] taps_y[j] times the pixel. T is float, half, uint8_t or uint16_t; numbers of taps are odd.
template <class T>
std::vector<window_facts> windows_of(const image_view<const T>& image, const std::vector<pixel>& centres,
                                     const std::vector<double>& taps_x, const std::vector<double>& taps_y,
                                     border border, double border_value);

/// How many elements are surely in each of eight bins, and how many may be: float32 decides in which of two that lie side by
/// side an element near their border is.
struct bin_facts {
    std::int64_t sure[8] = {}, possible[8] = {};
    std::int64_t inside = 0;  ///< of [lower, upper): these are counted in one bin or another
};

struct looked_at_bins {
    std::int64_t number[8] = {};
};

/// Counts what falls into `bins` equal parts of [lower, upper); for bytes, lower is 0 and upper as many as there are bins.
template <class T>
bin_facts count_bins(const vector_view<const T>& x, double lower, double upper, std::int64_t bins,
                     const looked_at_bins& looked_at);

}  // namespace heddle::bench::cliffs
