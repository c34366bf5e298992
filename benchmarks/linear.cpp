#include "benchmarks/operations.hpp"
#include "benchmarks/support/cublas_lt.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/matmul.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

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

}  // namespace

void register_linear() {
    for (const auto temperature : {temperature::cold, temperature::hot})
        for (const std::int64_t size : {1024, 2048, 4096, 8192}) {
            heddle_row<half>("sigmoid", size, temperature, matmul_activation::sigmoid);
            relu_and_gelu_rows<bfloat16>(size, temperature);
            relu_and_gelu_rows<float>(size, temperature);
#if HEDDLE_HAS_CUBLAS && HEDDLE_HAS_CUDNN
            row<half>("sigmoid", size, "cublaslt+cudnn", temperature,
                      [size](auto a, auto b, auto c, auto bias) {
                          return [product = best_cublas_lt_matmul<half, half>(a, b, c, bias.data), c,
                                  sigmoid = std::make_shared<cudnn_elementwise<half>>(
                                      CUDNN_ACTIVATION_SIGMOID, size * size)] {
                              product();
                              (*sigmoid)(c.data, c.data);
                          };
                      });
#endif
        }
}

}  // namespace heddle::bench
