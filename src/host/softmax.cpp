#include "src/elementwise/validate.hpp"
#include "src/host/parallel.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// x - largest, but 0 instead of NaN for equal infinities.
float difference(float x, float largest) {
    return x == largest ? 0.0f : x - largest;
}

template <bool logarithm, class T>
void row_softmax(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t cols) {
    const auto element = [&](std::int64_t col) { return static_cast<float>(x[col * x_stride]); };
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t col = 0; col < cols; ++col) largest = std::max(largest, element(col));
    double sum = 0;
    for (std::int64_t col = 0; col < cols; ++col)
        sum += static_cast<double>(std::exp(difference(element(col), largest)));
    if constexpr (logarithm) {
        const auto log_sum = static_cast<float>(std::log(sum));
        for (std::int64_t col = 0; col < cols; ++col)
            y[col * y_stride] = static_cast<T>(difference(element(col), largest) - log_sum);
    } else {
        const auto total = static_cast<float>(sum);
        for (std::int64_t col = 0; col < cols; ++col)
            y[col * y_stride] = static_cast<T>(std::exp(difference(element(col), largest)) / total);
    }
}

template <bool logarithm, class T>
void each_row(const char* operation, const matrix_view<const T>& x, const matrix_view<T>& y) {
    detail::validate_unary(operation, x, y);
#pragma omp parallel for schedule(static) if (y.rows * y.cols > elements_to_share)
    for (std::int64_t row = 0; row < y.rows; ++row)
        row_softmax<logarithm>(x.data + row * x.row_stride, x.col_stride, y.data + row * y.row_stride,
                               y.col_stride, y.cols);
}

template <bool logarithm, class T>
void row_gradient(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                  std::int64_t dx_stride, std::int64_t cols) {
    const auto of_y = [&](std::int64_t col) {
        return static_cast<double>(static_cast<float>(y[col * y_stride]));
    };
    const auto of_dy = [&](std::int64_t col) {
        return static_cast<double>(static_cast<float>(dy[col * dy_stride]));
    };
    double sum = 0;
    for (std::int64_t col = 0; col < cols; ++col) sum += logarithm ? of_dy(col) : of_dy(col) * of_y(col);
    for (std::int64_t col = 0; col < cols; ++col) {
        const double gradient =
            logarithm ? of_dy(col) - std::exp(of_y(col)) * sum : of_y(col) * (of_dy(col) - sum);
        dx[col * dx_stride] = static_cast<T>(static_cast<float>(gradient));
    }
}

template <bool logarithm, class T>
void each_gradient_row(const char* operation, const matrix_view<const T>& y, const matrix_view<const T>& dy,
                       const matrix_view<T>& dx) {
    const detail::operand operands[] = {detail::operand_of("y", y), detail::operand_of("dy", dy),
                                        detail::operand_of("dx", dx)};
    detail::validate_elementwise(operation, operands, sizeof(T));
#pragma omp parallel for schedule(static) if (dx.rows * dx.cols > elements_to_share)
    for (std::int64_t row = 0; row < dx.rows; ++row)
        row_gradient<logarithm>(y.data + row * y.row_stride, y.col_stride, dy.data + row * dy.row_stride,
                                dy.col_stride, dx.data + row * dx.row_stride, dx.col_stride, dx.cols);
}

}  // namespace

template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y) {
    each_row<false, T>("host::softmax", x, y);
}

template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y) {
    each_row<true, T>("host::log_softmax", x, y);
}

template <class T>
void softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                      matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx) {
    each_gradient_row<false, T>("host::softmax_gradient", y, dy, dx);
}

template <class T>
void log_softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                          matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx) {
    each_gradient_row<true, T>("host::log_softmax_gradient", y, dy, dx);
}

#define INSTANTIATE(T)                                                                             \
    template void softmax<T>(matrix_view<const T>, matrix_view<T>);                                \
    template void log_softmax<T>(matrix_view<const T>, matrix_view<T>);                            \
    template void softmax_gradient<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<T>); \
    template void log_softmax_gradient<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<T>);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
