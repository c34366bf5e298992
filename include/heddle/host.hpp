#pragma once

#include <heddle/batched_matmul.hpp>
#include <heddle/conv.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/linear.hpp>
#include <heddle/loss.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/optimizer.hpp>
#include <heddle/planes.hpp>
#include <heddle/pool.hpp>
#include <heddle/random.hpp>
#include <heddle/reduce.hpp>
#include <heddle/tensor.hpp>
#include <heddle/transpose.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle::detail::on_host {

void run(const elementwise_call& call);
void run(const random_call& call);

/// The common form of host::random_uniform() and the functions like it; operands as in random.hpp.
template <class T>
void draw(const char* name, random_operation operation, const philox& generator, double p, double q,
          const std::same_as<operand> auto&... given) {
    const operand operands[] = {given...};
    run({name, operation, random_type_of<T>, operands, generator, p, q});
}

template <class T, elementwise_operation operation, template <class> class View>
struct unary {
    void operator()(View<const T> x, View<T> y) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y)};
        run({operation, element_type_of<T>, operands});
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct binary {
    void operator()(View<const T> x, View<const T> y, View<T> z) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y), operand_of("z", z)};
        run({operation, element_type_of<T>, operands});
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct ternary {
    void operator()(View<const T> x, View<const T> y, View<const T> z, View<T> w) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y), operand_of("z", z),
                                    operand_of("w", w)};
        run({operation, element_type_of<T>, operands});
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct scaled {
    void operator()(compute_type<T> alpha, View<const T> x, View<T> y) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y)};
        run({operation, element_type_of<T>, operands, alpha});
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct accumulated {
    void operator()(compute_type<T> alpha, View<const T> x, View<T> y) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y), operand_of("y", y)};
        run({operation, element_type_of<T>, operands, alpha});
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct clamped {
    void operator()(View<const T> x, compute_type<T> low, compute_type<T> high, View<T> y) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y)};
        run({operation, element_type_of<T>, operands, low, high});
    }
};

template <template <class, elementwise_operation, template <class> class> class Function, class T,
          elementwise_operation operation>
using function = overloaded<Function<T, operation, vector_view>, Function<T, operation, matrix_view>>;

}  // namespace heddle::detail::on_host

/// The same operations on the CPU: views of host memory, no stream, done on return. They run on all cores through
/// OpenMP. Shapes, aliasing, types and invalid_argument are those of the device's operations.
namespace heddle::host {

// The same as their namesakes in heddle (elementwise.hpp), without a stream: host::add<float>(x, y, z).

template <class T>
inline constexpr detail::on_host::function<detail::on_host::binary, T, elementwise_operation::add> add{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::binary, T, elementwise_operation::subtract>
    subtract{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::binary, T, elementwise_operation::multiply>
    multiply{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::scaled, T, elementwise_operation::scale> scale{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::accumulated, T, elementwise_operation::axpy>
    axpy{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::ternary, T,
                                           elementwise_operation::fused_multiply_add>
    fused_multiply_add{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::clamped, T, elementwise_operation::clamp> clamp{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::abs> abs{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::exp> exp{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::sigmoid>
    sigmoid{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::tanh> tanh{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::relu> relu{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::gelu> gelu{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::gelu_tanh>
    gelu_tanh{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::silu> silu{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T,
                                           elementwise_operation::sigmoid_derivative>
    sigmoid_derivative{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::tanh_derivative>
    tanh_derivative{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::relu_derivative>
    relu_derivative{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::gelu_derivative>
    gelu_derivative{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T,
                                           elementwise_operation::gelu_tanh_derivative>
    gelu_tanh_derivative{};
template <class T>
inline constexpr detail::on_host::function<detail::on_host::unary, T, elementwise_operation::silu_derivative>
    silu_derivative{};

/// C = alpha * A * B + beta * C; see heddle::matmul, which has the same types.
template <class Out, class In = Out>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, float alpha = 1, float beta = 0);
/// The same with an epilogue, applied before C is stored.
template <class Out, class In = Out>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue, float alpha = 1,
            float beta = 0);
/// The products of a batch, or of a list, one after another; see heddle::batched_matmul. All arguments are checked
/// before anything is computed.
template <class Out, class In = Out>
void batched_matmul(batch_view<const std::type_identity_t<In>> a,
                    batch_view<const std::type_identity_t<In>> b, batch_view<Out> c, float alpha = 1,
                    float beta = 0);
template <class Out, class In = Out>
void batched_matmul(std::type_identity_t<std::span<const matmul_operands<Out, In>>> products, float alpha = 1,
                    float beta = 0);

/// A fully connected layer of a batch, and its gradients; see heddle::linear and heddle::linear_gradient. Of the
/// options, only the activations are used. A derivative allocates memory on the heap.
template <class T>
void linear(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> weights,
            vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y,
            const linear_options& options = {});
template <class T>
void linear_gradient(matrix_view<const std::type_identity_t<T>> x,
                     matrix_view<const std::type_identity_t<T>> weights,
                     matrix_view<const std::type_identity_t<T>> gradient, matrix_view<T> dx,
                     matrix_view<float> dweights, vector_view<float> dbias,
                     const linear_gradient_options& options = {});

/// A convolution of each image; see heddle::conv, which has the same types. Of the options, geometry, alpha and beta
/// count.
template <class Out, class In = Out>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_options& options = {});
template <class Out, class In = Out>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_epilogue<std::type_identity_t<Out>>& epilogue, const conv_options& options = {});

/// The largest, or the average, of the pixels in each window; see heddle::pool. Of the options, mode and geometry
/// count.
template <class T>
void pool(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output,
          const pool_options& options = {});

/// From planes to interleaved channels and back; see heddle::to_nhwc and heddle::to_nchw.
template <class T>
void to_nhwc(planes_view<const std::type_identity_t<T>> source, tensor_view<T> destination);
template <class T>
void to_nchw(tensor_view<const std::type_identity_t<T>> source, planes_view<T> destination);

/// The reductions of a vector; see heddle::sum and its siblings. The result does not depend on the number of threads.
template <class T>
sum_type<T> sum(vector_view<const T> x);
template <class T>
mean_type<T> mean(vector_view<const T> x);
template <class T>
T min(vector_view<const T> x);
template <class T>
T max(vector_view<const T> x);
template <class T>
std::int64_t argmin(vector_view<const T> x);
template <class T>
std::int64_t argmax(vector_view<const T> x);
template <class T>
sum_type<T> dot(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y);
template <class T>
sum_type<T> norm1(vector_view<const T> x);
template <class T>
sum_type<T> norm2(vector_view<const T> x);
template <class T>
std::int64_t count_nonzero(vector_view<const T> x);

/// Prefix sums with x[i] and without it; see heddle::inclusive_scan and heddle::exclusive_scan. The result does not
/// depend on the number of threads.
template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y);
template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y);

/// The softmax of each row, and its logarithm; see heddle::softmax and heddle::log_softmax.
template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);
template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);

/// The gradients of both; see heddle::softmax_gradient and heddle::log_softmax_gradient. Sums are in double.
template <class T>
void softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                      matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx);
template <class T>
void log_softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                          matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx);

/// Each row normalised by mean and standard deviation, and by root mean square; see heddle::layer_norm and
/// heddle::rms_norm. Sums are in double, and count as infinite beyond float's largest number. So rows whose squares
/// overflow on the device give the same results here.
template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x,
                vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, float epsilon = 1e-5f);
template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, float epsilon = 1e-5f);

/// The gradients of both; see heddle::layer_norm_gradient and heddle::rms_norm_gradient. Sums are in double; the sums
/// of columns allocate memory on the heap.
template <class T>
void layer_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                         vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                         matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                         vector_view<std::type_identity_t<T>> dbeta, float epsilon = 1e-5f);
template <class T>
void rms_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                       vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                       matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                       float epsilon = 1e-5f);

/// The losses of rows with their gradients, and the rows whose label is their argmax; see heddle::cross_entropy,
/// heddle::mean_squared_error and heddle::label_hits. A loss or a gradient may be left out. Computed in double;
/// options.algorithm is ignored.
template <class T>
void cross_entropy(matrix_view<const std::type_identity_t<T>> logits, vector_view<const std::int32_t> labels,
                   vector_view<float> loss, matrix_view<T> gradient,
                   const cross_entropy_options& options = {});
template <class T>
void mean_squared_error(matrix_view<const std::type_identity_t<T>> prediction,
                        matrix_view<const std::type_identity_t<T>> target, vector_view<float> loss,
                        matrix_view<T> gradient, const mean_squared_error_options& options = {});
template <class T>
void label_hits(matrix_view<const T> scores, vector_view<const std::int32_t> labels,
                vector_view<std::int32_t> hits);

/// A step of an optimizer, and the norm of all gradients; see heddle::sgd and the functions after it. All memory is host
/// memory, also that of the options. options.algorithm is ignored.
template <class T, class Gradient = T>
void sgd(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters,
         const sgd_options& options = {});
template <class T, class Gradient = T>
void adam(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters,
          const adam_options& options = {});
template <class T, class Gradient = T>
void adamw(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters,
           const adam_options& options = {});
template <class T, class Gradient = T>
void gradient_norm(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, float* result);

/// The reductions of a matrix along its rows and columns; see heddle::row_sum and its siblings. options.algorithm and
/// options.workspace are ignored.
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

/// The number of elements of x in each bin; see heddle::histogram.
void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts);
void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts);

// The numbers of random.hpp. Bits agree with the device's, except for normal numbers, which agree within a bound. A
// device_offset is in host memory here.

template <class T>
void random_uniform(vector_view<T> y, compute_type<T> low, compute_type<T> high, const philox& generator) {
    detail::on_host::draw<T>("host::random_uniform", detail::random_operation::uniform, generator, low, high,
                             detail::operand_of("y", y));
}
template <class T>
void random_uniform(matrix_view<T> y, compute_type<T> low, compute_type<T> high, const philox& generator) {
    detail::on_host::draw<T>("host::random_uniform", detail::random_operation::uniform, generator, low, high,
                             detail::operand_of("y", y));
}
template <class T>
void random_normal(vector_view<T> y, compute_type<T> mean, compute_type<T> deviation,
                   const philox& generator) {
    detail::on_host::draw<T>("host::random_normal", detail::random_operation::normal, generator, mean,
                             deviation, detail::operand_of("y", y));
}
template <class T>
void random_normal(matrix_view<T> y, compute_type<T> mean, compute_type<T> deviation,
                   const philox& generator) {
    detail::on_host::draw<T>("host::random_normal", detail::random_operation::normal, generator, mean,
                             deviation, detail::operand_of("y", y));
}
template <class T>
void random_bernoulli(vector_view<T> y, double p, const philox& generator) {
    detail::on_host::draw<T>("host::random_bernoulli", detail::random_operation::bernoulli, generator, p, 0,
                             detail::operand_of("y", y));
}
template <class T>
void random_bernoulli(matrix_view<T> y, double p, const philox& generator) {
    detail::on_host::draw<T>("host::random_bernoulli", detail::random_operation::bernoulli, generator, p, 0,
                             detail::operand_of("y", y));
}
inline void random_bits(vector_view<std::uint32_t> y, const philox& generator) {
    detail::on_host::draw<std::uint32_t>("host::random_bits", detail::random_operation::bits, generator, 0, 0,
                                         detail::operand_of("y", y));
}
template <class T>
void dropout(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, double p,
             const philox& generator) {
    detail::on_host::draw<T>("host::dropout", detail::random_operation::dropout, generator, p, 0,
                             detail::operand_of("x", x), detail::operand_of("y", y));
}
template <class T>
void dropout(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, double p,
             const philox& generator) {
    detail::on_host::draw<T>("host::dropout", detail::random_operation::dropout, generator, p, 0,
                             detail::operand_of("x", x), detail::operand_of("y", y));
}
template <class T>
void dropout_gradient(vector_view<const std::type_identity_t<T>> dy, vector_view<T> dx, double p,
                      const philox& generator) {
    detail::on_host::draw<T>("host::dropout_gradient", detail::random_operation::dropout, generator, p, 0,
                             detail::operand_of("dy", dy), detail::operand_of("dx", dx));
}
template <class T>
void dropout_gradient(matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx, double p,
                      const philox& generator) {
    detail::on_host::draw<T>("host::dropout_gradient", detail::random_operation::dropout, generator, p, 0,
                             detail::operand_of("dy", dy), detail::operand_of("dx", dx));
}
void random_permutation(vector_view<std::int32_t> y, const philox& generator);

/// Each destination = its source blurred by a Gaussian; see heddle::gaussian_blur. Of the options, `exact`,
/// `algorithm` and `workspace` are ignored.
template <class T>
void gaussian_blur(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<T> destinations,
                   blur_sigma sigma, const gaussian_blur_options& options = {});
template <class T>
void gaussian_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination,
                   blur_sigma sigma, const gaussian_blur_options& options = {}) {
    host::gaussian_blur<T>(image_batch_view<const T>{source}, image_batch_view<T>{destination}, sigma,
                           options);
}

/// The filters of image_filter.hpp. options.algorithm and options.workspace are ignored.
void separable_convolution(image_batch_view<const float> sources, image_batch_view<float> destinations,
                           std::span<const float> taps_x, std::span<const float> taps_y,
                           const image_filter_options& options = {});
template <class T>
void box_blur(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<T> destinations,
              window_radius radius, const image_filter_options& options = {});
template <class T>
void sobel(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<float> destinations,
           heddle::gradient gradient, const image_filter_options& options = {});
template <class T>
void laplacian(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<float> destinations,
               const image_filter_options& options = {});
inline void separable_convolution(image_view<const float> source, image_view<float> destination,
                                  std::span<const float> taps_x, std::span<const float> taps_y,
                                  const image_filter_options& options = {}) {
    host::separable_convolution(image_batch_view<const float>{source}, image_batch_view<float>{destination},
                                taps_x, taps_y, options);
}
template <class T>
void box_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination,
              window_radius radius, const image_filter_options& options = {}) {
    host::box_blur<T>(image_batch_view<const T>{source}, image_batch_view<T>{destination}, radius, options);
}
template <class T>
void sobel(image_view<const std::type_identity_t<T>> source, image_view<float> destination,
           heddle::gradient gradient, const image_filter_options& options = {}) {
    host::sobel<T>(image_batch_view<const T>{source}, image_batch_view<float>{destination}, gradient,
                   options);
}
template <class T>
void laplacian(image_view<const std::type_identity_t<T>> source, image_view<float> destination,
               const image_filter_options& options = {}) {
    host::laplacian<T>(image_batch_view<const T>{source}, image_batch_view<float>{destination}, options);
}

/// destination(j, i) = source(i, j); see heddle::transpose.
template <heddle::detail::transposable T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination) {
    heddle::detail::transpose<heddle::detail::word_of<T>>(heddle::detail::as_words(source),
                                                          heddle::detail::as_words(destination));
}

}  // namespace heddle::host

#pragma GCC visibility pop
