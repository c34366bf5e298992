#include "src/host/parallel.hpp"
#include "src/host/row_of.hpp"
#include "src/norm/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

template <class T>
float parameter(const vector_view<const T>& v, std::int64_t col, float otherwise) {
    return v.size > 0 ? static_cast<float>(v.data[col * v.stride]) : otherwise;
}

double infinite_beyond_float(double value) {
    return std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())
               ? std::copysign(std::numeric_limits<double>::infinity(), value)
               : value;
}

/// Sums are in double, so that a long row is as accurate as a short one. Sums beyond float's range become infinite, as
/// on the device.
template <bool centred, class T>
void normalize(row_of<const T> x, const vector_view<const T>& gamma, const vector_view<const T>& beta,
               row_of<T> y, std::int64_t cols, float epsilon) {
    double mean = 0;
    if constexpr (centred) {
        double sum = 0;
        for (std::int64_t col = 0; col < cols; ++col) sum += static_cast<double>(static_cast<float>(x[col]));
        mean = infinite_beyond_float(sum) / static_cast<double>(cols);
    }
    double squares = 0;
    for (std::int64_t col = 0; col < cols; ++col) {
        const double deviation = static_cast<double>(static_cast<float>(x[col])) - mean;
        squares += deviation * deviation;
    }
    const double variance = infinite_beyond_float(squares) / static_cast<double>(cols);
    const double scale = 1 / std::sqrt(variance + static_cast<double>(epsilon));
    for (std::int64_t col = 0; col < cols; ++col) {
        const double deviation = static_cast<double>(static_cast<float>(x[col])) - mean;
        y[col] = static_cast<T>(static_cast<float>(deviation * scale) * parameter(gamma, col, 1) +
                                parameter(beta, col, 0));
    }
}

template <bool centred, class T>
void each_row(const char* operation, const matrix_view<const T>& x, const vector_view<const T>& gamma,
              const vector_view<const T>& beta, const matrix_view<T>& y, float epsilon) {
    detail::validate_norm(operation, x, gamma, beta, y, epsilon);
#pragma omp parallel for schedule(static) if (y.rows * y.cols > elements_to_share)
    for (std::int64_t row = 0; row < y.rows; ++row)
        normalize<centred, T>({x, row}, gamma, beta, {y, row}, y.cols, epsilon);
}

}  // namespace

template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x,
                vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, float epsilon) {
    each_row<true, T>("host::layer_norm", x, gamma, beta, y, epsilon);
}

template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, float epsilon) {
    each_row<false, T>("host::rms_norm", x, gamma, {}, y, epsilon);
}

#define INSTANTIATE(T)                                                                            \
    template void layer_norm<T>(matrix_view<const T>, vector_view<const T>, vector_view<const T>, \
                                matrix_view<T>, float);                                           \
    template void rms_norm<T>(matrix_view<const T>, vector_view<const T>, matrix_view<T>, float);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
