#pragma once

#include <heddle/gaussian_blur.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/transpose.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cstdint>
#include <type_traits>

/// The same operations on the CPU: views of host memory, no stream, done on return. They run on all cores
/// through OpenMP. Shapes, aliasing, types and invalid_argument are those of the device's.
namespace heddle::host {

/// z = x + y; see heddle::add.
template <class T>
void add(vector_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> y,
         vector_view<T> z);
template <class T>
void add(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> y,
         matrix_view<T> z);

/// y = 1 / (1 + exp(-x)); see heddle::sigmoid.
template <class T>
void sigmoid(vector_view<const std::type_identity_t<T>> x, vector_view<T> y);
template <class T>
void sigmoid(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);

/// C = alpha * A * B + beta * C; see heddle::matmul.
template <class T>
void matmul(matrix_view<const std::type_identity_t<T>> a, matrix_view<const std::type_identity_t<T>> b,
            matrix_view<T> c, std::type_identity_t<T> alpha = 1, std::type_identity_t<T> beta = 0);

/// The sum, the smallest and the largest element of x; see heddle::sum, heddle::min and heddle::max. The
/// result does not depend on the number of threads.
template <class T>
sum_type<T> sum(vector_view<const T> x);
template <class T>
T min(vector_view<const T> x);
template <class T>
T max(vector_view<const T> x);

/// The reductions of a matrix along its rows and columns; see heddle::row_sum and its siblings. Of the options,
/// the algorithm and the workspace are ignored.
template <class T>
void row_sum(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options = {});
template <class T>
void row_mean(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options = {});
template <class T>
void row_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y,
             const matrix_reduce_options& options = {});
template <class T>
void row_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y,
             const matrix_reduce_options& options = {});
template <class T>
void row_argmax(matrix_view<const T> x, vector_view<std::int64_t> y,
                const matrix_reduce_options& options = {});
template <class T>
void row_variance(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options = {});
template <class T>
void column_sum(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options = {});
template <class T>
void column_mean(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options = {});
template <class T>
void column_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y,
                const matrix_reduce_options& options = {});
template <class T>
void column_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y,
                const matrix_reduce_options& options = {});
template <class T>
void column_argmax(matrix_view<const T> x, vector_view<std::int64_t> y,
                   const matrix_reduce_options& options = {});
template <class T>
void column_variance(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options = {});

/// The softmax of each row, and its logarithm; see heddle::softmax and heddle::log_softmax.
template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);
template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);

/// Each row less its mean over its standard deviation, and each row over its root mean square; see
/// heddle::layer_norm and heddle::rms_norm.
template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, float epsilon = 1e-5f);
template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, float epsilon = 1e-5f);

/// y[i] = x[0] + ... + x[i], and without x[i]; see heddle::inclusive_scan and heddle::exclusive_scan. The result
/// does not depend on the number of threads.
template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y);
template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y);

/// How many elements of x are in each bin; see heddle::histogram.
void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts);
void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts);

/// destination = source blurred by a Gaussian; see heddle::gaussian_blur. Of the options, the algorithm and
/// the workspace are ignored.
template <class T>
void gaussian_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination, double sigma,
                   const gaussian_blur_options& options = {});

/// destination(j, i) = source(i, j); see heddle::transpose.
template <heddle::detail::transposable T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination) {
    heddle::detail::transpose<heddle::detail::word_of<T>>(heddle::detail::as_words(source),
                                                          heddle::detail::as_words(destination));
}

}  // namespace heddle::host
