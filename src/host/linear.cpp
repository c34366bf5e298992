#include "src/host/parallel.hpp"
#include "src/linear/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// `sum` times the derivative of an activation. x is the activation's result.
float times_derivative(matmul_activation activation, float x, float sum) {
    switch (activation) {
        case matmul_activation::relu:
            return x > 0 ? sum : x <= 0 ? 0 : x;
        case matmul_activation::sigmoid:
            return sum * std::fma(-x, x, x);  // x (1 - x) with one rounding
        case matmul_activation::tanh:
            return sum * std::fma(-x, x, 1.0f);
        default:
            return sum;
    }
}

/// dx = (gradient weights) * f'(x), rounded to T once.
template <class T>
void propagate(const matrix_view<const T>& x, const matrix_view<const T>& weights,
               const matrix_view<const T>& gradient, const matrix_view<T>& dx, matmul_activation activation) {
    if (activation == matmul_activation::none) {
        matmul<T, T>(gradient, weights, dx);
        return;
    }
    std::vector<float> memory(static_cast<std::size_t>(dx.rows * dx.cols));
    const matrix_view sums{memory.data(), dx.rows, dx.cols};
    matmul<float, T>(gradient, weights, sums);
#pragma omp parallel for schedule(static) if (dx.rows * dx.cols > elements_to_share)
    for (std::int64_t row = 0; row < dx.rows; ++row)
        for (std::int64_t col = 0; col < dx.cols; ++col) {
            const auto result = static_cast<float>(x.data[row * x.row_stride + col * x.col_stride]);
            dx.data[row * dx.row_stride + col * dx.col_stride] =
                static_cast<T>(times_derivative(activation, result, sums.data[row * sums.row_stride + col]));
        }
}

}  // namespace

template <class T>
void linear(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> weights,
            vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y,
            const linear_options& options) {
    detail::validate_linear("host::linear", x, weights, bias, y, options);
    matmul<T, T>(x, transposed(weights), y, {.activation = options.activation, .row_bias = bias});
}

template <class T>
void linear_gradient(matrix_view<const std::type_identity_t<T>> x,
                     matrix_view<const std::type_identity_t<T>> weights,
                     matrix_view<const std::type_identity_t<T>> gradient, matrix_view<T> dx,
                     matrix_view<float> dweights, vector_view<float> dbias,
                     const linear_gradient_options& options) {
    detail::validate_linear_gradient("host::linear_gradient", x, weights, gradient, dx, dweights, dbias,
                                     options);
    if (detail::is_given(dx)) propagate(x, weights, gradient, dx, options.activation_of_x);
    if (detail::is_given(dweights)) matmul<float, T>(transposed(gradient), x, dweights);
    if (dbias.size > 0) column_sum<T>(gradient, dbias);
}

#define INSTANTIATE(T)                                                                                 \
    template void linear<T>(matrix_view<const T>, matrix_view<const T>, vector_view<const T>,          \
                            matrix_view<T>, const linear_options&);                                    \
    template void linear_gradient<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<const T>, \
                                     matrix_view<T>, matrix_view<float>, vector_view<float>,           \
                                     const linear_gradient_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
