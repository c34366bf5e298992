#include "src/host/parallel.hpp"
#include "src/norm/validate_gradient.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

struct statistics {
    double mean;
    double scale;
};

template <class T>
struct operands {
    matrix_view<const T> x;
    vector_view<const T> gamma;
    matrix_view<const T> dy;
    matrix_view<T> dx;

    double x_at(std::int64_t row, std::int64_t col) const {
        return static_cast<double>(static_cast<float>(x.data[row * x.row_stride + col * x.col_stride]));
    }
    double dy_at(std::int64_t row, std::int64_t col) const {
        return static_cast<double>(static_cast<float>(dy.data[row * dy.row_stride + col * dy.col_stride]));
    }
    double g_at(std::int64_t row, std::int64_t col) const {
        const double factor =
            gamma.size > 0 ? static_cast<double>(static_cast<float>(gamma.data[col * gamma.stride])) : 1;
        return dy_at(row, col) * factor;
    }
};

template <bool centred, class T>
statistics statistics_of(const operands<T>& a, std::int64_t row, float epsilon) {
    const auto cols = static_cast<double>(a.x.cols);
    double sum = 0, squares = 0;
    if constexpr (centred)
        for (std::int64_t col = 0; col < a.x.cols; ++col) sum += a.x_at(row, col);
    const double mean = sum / cols;
    for (std::int64_t col = 0; col < a.x.cols; ++col) {
        const double deviation = a.x_at(row, col) - mean;
        squares += deviation * deviation;
    }
    return {mean, 1 / std::sqrt(squares / cols + static_cast<double>(epsilon))};
}

template <bool centred, class T>
void row_gradient(const operands<T>& a, std::int64_t row, const statistics& s) {
    const auto cols = static_cast<double>(a.x.cols);
    const auto z = [&](std::int64_t col) { return (a.x_at(row, col) - s.mean) * s.scale; };
    double sum = 0, scaled = 0;
    for (std::int64_t col = 0; col < a.x.cols; ++col) {
        const double g = a.g_at(row, col);
        sum += g;
        scaled += g * z(col);
    }
    const double mean_of_g = centred ? sum / cols : 0;
    for (std::int64_t col = 0; col < a.x.cols; ++col) {
        const double gradient = (a.g_at(row, col) - mean_of_g - z(col) * (scaled / cols)) * s.scale;
        a.dx.data[row * a.dx.row_stride + col * a.dx.col_stride] =
            static_cast<T>(static_cast<float>(gradient));
    }
}

/// Sums down all rows, several neighbouring columns at a time, so that reads are contiguous.
template <class T>
void column_sums(const operands<T>& a, const std::vector<statistics>& rows, const vector_view<T>& dgamma,
                 const vector_view<T>& dbeta) {
    constexpr std::int64_t side = 64;
#pragma omp parallel for schedule(static) if (a.x.rows * a.x.cols > elements_to_share)
    for (std::int64_t first = 0; first < a.x.cols; first += side) {
        const std::int64_t count = std::min(side, a.x.cols - first);
        double plain[side] = {}, scaled[side] = {};
        for (std::int64_t row = 0; row < a.x.rows; ++row) {
            const auto [mean, scale] = rows[static_cast<std::size_t>(row)];
            for (std::int64_t i = 0; i < count; ++i) {
                const double dy = a.dy_at(row, first + i);
                plain[i] += dy;
                scaled[i] += dy * ((a.x_at(row, first + i) - mean) * scale);
            }
        }
        for (std::int64_t i = 0; i < count; ++i) {
            if (dgamma.size > 0)
                dgamma.data[(first + i) * dgamma.stride] = static_cast<T>(static_cast<float>(scaled[i]));
            if (dbeta.size > 0)
                dbeta.data[(first + i) * dbeta.stride] = static_cast<T>(static_cast<float>(plain[i]));
        }
    }
}

template <bool centred, class T>
void gradient(const char* operation, const operands<T>& a, const vector_view<T>& dgamma,
              const vector_view<T>& dbeta, float epsilon) {
    detail::validate_norm_gradient(operation, a.x, a.gamma, a.dy, a.dx, dgamma, dbeta, epsilon);
    const bool has_sums = dgamma.size > 0 || dbeta.size > 0, wants_dx = a.dx.rows > 0 && a.dx.cols > 0;
    if (a.x.cols == 0 || !(has_sums || wants_dx)) return;
    std::vector<statistics> rows(static_cast<std::size_t>(a.x.rows));
#pragma omp parallel for schedule(static) if (a.x.rows * a.x.cols > elements_to_share)
    for (std::int64_t row = 0; row < a.x.rows; ++row)
        rows[static_cast<std::size_t>(row)] = statistics_of<centred>(a, row, epsilon);
    if (has_sums) column_sums(a, rows, dgamma, dbeta);
    if (!wants_dx) return;
#pragma omp parallel for schedule(static) if (a.x.rows * a.x.cols > elements_to_share)
    for (std::int64_t row = 0; row < a.x.rows; ++row)
        row_gradient<centred>(a, row, rows[static_cast<std::size_t>(row)]);
}

}  // namespace

template <class T>
void layer_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                         vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                         matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                         vector_view<std::type_identity_t<T>> dbeta, float epsilon) {
    gradient<true, T>("host::layer_norm_gradient", {x, gamma, dy, dx}, dgamma, dbeta, epsilon);
}

template <class T>
void rms_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                       vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                       matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                       float epsilon) {
    gradient<false, T>("host::rms_norm_gradient", {x, gamma, dy, dx}, dgamma, {}, epsilon);
}

#define INSTANTIATE(T)                                                                                     \
    template void layer_norm_gradient<T>(matrix_view<const T>, vector_view<const T>, matrix_view<const T>, \
                                         matrix_view<T>, vector_view<T>, vector_view<T>, float);           \
    template void rms_norm_gradient<T>(matrix_view<const T>, vector_view<const T>, matrix_view<const T>,   \
                                       matrix_view<T>, vector_view<T>, float);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
