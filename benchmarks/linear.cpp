#include "benchmarks/operations.hpp"
#include "benchmarks/support/cublas_lt.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/linear.hpp>
#include <heddle/matmul.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle::bench {
namespace {

/// float is multiplied as TF32.
template <class T>
constexpr std::string_view type_name = std::is_same_v<T, float> ? "tf32" : dtype<T>;

/// A linear layer: size x size times size x size, plus a bias for each column, and an activation.
template <class T>
problem layer(std::string_view activation, std::int64_t size) {
    const auto n = static_cast<double>(size);
    return {fmt::format("linear_{}/{}/{}x{}x{}", activation, type_name<T>, size, size, size),
            sizeof(T) * (2 * n * n + n), sizeof(T) * n * n, 2 * n * n * n,
            std::is_same_v<T, float> ? unit::tensor_tf32 : tensor_unit<T>};
}

/// `prepare` takes the matrices a, b and c and the bias, and gives the call.
template <class T, class Prepare>
void row(std::string_view activation, std::int64_t size, std::string_view library, temperature temperature,
         Prepare prepare) {
    device_row(layer<T>(activation, size), library, temperature, [size, prepare] {
        auto a = random_on_device<T>(size * size);
        auto b = random_on_device<T>(size * size);
        auto bias = random_on_device<T>(size);
        device_buffer<T> c(size * size, stream());
        auto call =
            prepare(matrix_view<const T>{a.data(), size, size}, matrix_view<const T>{b.data(), size, size},
                    matrix_view<T>{c.data(), size, size}, vector_view<const T>{bias.data(), size});
        return [a = std::move(a), b = std::move(b), c = std::move(c), bias = std::move(bias),
                call = std::move(call)] { call(); };
    });
}

template <class T>
void heddle_row(std::string_view name, std::int64_t size, temperature temperature,
                matmul_activation activation) {
    row<T>(name, size, "heddle", temperature, [activation](auto a, auto b, auto c, auto bias) {
        return [=] {
            matmul<T>(a, b, c, matmul_epilogue<T>{activation, bias}, stream(),
                      {.precision = precision::tf32});
        };
    });
}

template <class T>
void relu_and_gelu_rows(std::int64_t size, temperature temperature) {
    heddle_row<T>("relu", size, temperature, matmul_activation::relu);
    heddle_row<T>("gelu_tanh", size, temperature, matmul_activation::gelu_tanh);
#if HEDDLE_HAS_CUBLAS
    row<T>("relu", size, "cublaslt", temperature, [](auto a, auto b, auto c, auto bias) {
        return best_cublas_lt_matmul<T, T>(a, b, c, bias.data, lt_activation::relu);
    });
    row<T>("gelu_tanh", size, "cublaslt", temperature, [](auto a, auto b, auto c, auto bias) {
        return best_cublas_lt_matmul<T, T>(a, b, c, bias.data, lt_activation::gelu_tanh);
    });
#endif
}

void sigmoid_rows(std::int64_t size, temperature temperature) {
    heddle_row<half>("sigmoid", size, temperature, matmul_activation::sigmoid);
#if HEDDLE_HAS_CUBLAS && HEDDLE_HAS_CUDNN
    row<half>("sigmoid", size, "cublaslt+cudnn", temperature, [size](auto a, auto b, auto c, auto bias) {
        return [product = best_cublas_lt_matmul<half, half>(a, b, c, bias.data), c,
                sigmoid = std::make_shared<cudnn_elementwise<half>>(CUDNN_ACTIVATION_SIGMOID, size * size)] {
            product();
            (*sigmoid)(c.data, c.data);
        };
    });
#endif
}

struct gradient_shape {
    std::int64_t batch;
    std::int64_t in;
    std::int64_t out;
};

/// All three gradients of a layer, below which relu has made x.
template <class T>
problem gradients(const gradient_shape& s) {
    const auto batch = static_cast<double>(s.batch), in = static_cast<double>(s.in),
               out = static_cast<double>(s.out);
    return {fmt::format("linear_gradient/{}/{}x{}x{}", type_name<T>, s.batch, s.in, s.out),
            sizeof(T) * (batch * in + out * in + batch * out),
            sizeof(T) * batch * in + sizeof(float) * (out * in + out), 4 * batch * in * out,
            std::is_same_v<T, float> ? unit::tensor_tf32 : tensor_unit<T>};
}

/// `prepare` takes x, weights, gradient, dx, dweights and dbias, and gives the call.
template <class T, class Prepare>
void gradient_row(const gradient_shape& s, const std::string& library, Prepare prepare) {
    device_row(gradients<T>(s), library, temperature::cold, [s, prepare] {
        auto x = random_on_device<T>(s.batch * s.in);
        auto weights = random_on_device<T>(s.out * s.in);
        auto gradient = random_on_device<T>(s.batch * s.out);
        device_buffer<T> dx(s.batch * s.in, stream());
        device_buffer<float> dweights(s.out * s.in, stream()), dbias(s.out, stream());
        auto call = prepare(
            matrix_view<const T>{x.data(), s.batch, s.in}, matrix_view<const T>{weights.data(), s.out, s.in},
            matrix_view<const T>{gradient.data(), s.batch, s.out}, matrix_view<T>{dx.data(), s.batch, s.in},
            matrix_view<float>{dweights.data(), s.out, s.in}, vector_view<float>{dbias.data(), s.out});
        return [x = std::move(x), weights = std::move(weights), gradient = std::move(gradient),
                dx = std::move(dx), dweights = std::move(dweights), dbias = std::move(dbias),
                call = std::move(call)] { call(); };
    });
}

template <class T>
void heddle_gradient_row(const gradient_shape& s, linear_gradient_algorithm algorithm) {
    gradient_row<T>(s, implementation(algorithm),
                    [algorithm](auto x, auto weights, auto gradient, auto dx, auto dweights, auto dbias) {
                        return [=] {
                            linear_gradient<T>(x, weights, gradient, dx, dweights, dbias, stream(),
                                               {.algorithm = algorithm,
                                                .activation_of_x = matmul_activation::relu,
                                                .precision = precision::tf32});
                        };
                    });
}

/// cublasLt's row is its two products alone, without the derivative and the sums of the bias.
template <class T>
void gradient_rows(const gradient_shape& s) {
    heddle_gradient_row<T>(s, linear_gradient_algorithm::automatic);
#if HEDDLE_HAS_CUBLAS
    gradient_row<T>(
        s, "cublaslt_products", [](auto x, auto weights, auto gradient, auto dx, auto dweights, auto) {
            return [of_x = best_cublas_lt_matmul<T, T>(gradient, weights, dx),
                    of_weights = best_cublas_lt_matmul<T, float>(transposed(gradient), x, dweights)] {
                of_x();
                of_weights();
            };
        });
#endif
}

}  // namespace

void register_linear() {
    for (const std::int64_t size : {2048, 4096, 8192}) {
        sigmoid_rows(size, temperature::cold);
        relu_and_gelu_rows<bfloat16>(size, temperature::cold);
        relu_and_gelu_rows<float>(size, temperature::cold);
    }
    sigmoid_rows(8192, temperature::hot);
    relu_and_gelu_rows<bfloat16>(4096, temperature::hot);
    relu_and_gelu_rows<float>(8192, temperature::hot);

    for (const gradient_shape& s :
         {gradient_shape{64, 784, 128}, {1024, 1024, 1024}, {4096, 4096, 4096}, {8192, 2048, 8192}}) {
        gradient_rows<float>(s);
        gradient_rows<bfloat16>(s);
        for (const auto algorithm : linear_gradient_algorithms()) heddle_gradient_row<bfloat16>(s, algorithm);
    }
}

}  // namespace heddle::bench
