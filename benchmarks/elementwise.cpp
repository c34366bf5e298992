// Every elementwise operation but add and sigmoid, which are operations of their own.

#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/own_functor.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/elementwise.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::bench {
namespace {

using op = elementwise_operation;

constexpr std::int64_t size = 1 << 28;
constexpr float alpha = -1.25f;

template <class T>
problem of(op operation, std::int64_t elements, std::string_view shape) {
    const double bytes = sizeof(T) * static_cast<double>(elements);
    return {fmt::format("{}/{}/{}", to_string(operation), dtype<T>, shape), input_count(operation) * bytes,
            bytes};
}

/// `call` takes the inputs, as many as the operation has, and the output.
template <class T, class Call>
void row(op operation, std::string_view library, Call call) {
    device_row(of<T>(operation, size, std::to_string(size)), library, temperature::cold, [=] {
        std::vector<device_buffer<T>> in;
        while (std::ssize(in) < input_count(operation)) in.push_back(random_on_device<T>(size));
        return
            [call, in = std::move(in), out = device_buffer<T>(size, stream())]() mutable { call(in, out); };
    });
}

template <class T, class Function>
void unary(op operation, Function function) {
    row<T>(operation, "heddle", [function](auto& in, auto& out) { function(in[0], out, stream()); });
}

template <class T>
void cub_row(op operation) {
    row<T>(operation, "cub", [operation](auto& in, auto& out) {
        cub_elementwise<T>(operation, {in[0].data()}, out.data(), size);
    });
}

#if HEDDLE_HAS_CUDNN
template <class T>
void cudnn_row(op operation, cudnnActivationMode_t mode) {
    device_row(of<T>(operation, size, std::to_string(size)), "cudnn", temperature::cold, [mode] {
        return [x = random_on_device<T>(size), y = device_buffer<T>(size, stream()),
                activation = cudnn_elementwise<T>(mode, size)]() mutable { activation(x.data(), y.data()); };
    });
}
#endif

/// The activations that there are peers of.
template <class T>
void activations() {
    unary<T>(op::relu, relu<T>);
    unary<T>(op::tanh, tanh<T>);
#if HEDDLE_HAS_CUDNN
    cudnn_row<T>(op::relu, CUDNN_ACTIVATION_RELU);
    cudnn_row<T>(op::tanh, CUDNN_ACTIVATION_TANH);
#endif
    unary<T>(op::gelu, gelu<T>);
    row<T>(op::gelu, "heddle:transform", [](auto& in, auto& out) { own_gelu<T>(in[0], out); });
    cub_row<T>(op::gelu);
    unary<T>(op::silu, silu<T>);
    cub_row<T>(op::silu);
}

void arithmetic() {
    row<float>(op::subtract, "heddle",
               [](auto& in, auto& out) { subtract<float>(in[0], in[1], out, stream()); });
    row<float>(op::multiply, "heddle",
               [](auto& in, auto& out) { multiply<float>(in[0], in[1], out, stream()); });
    row<float>(op::scale, "heddle", [](auto& in, auto& out) { scale<float>(alpha, in[0], out, stream()); });
    row<float>(op::fused_multiply_add, "heddle",
               [](auto& in, auto& out) { fused_multiply_add<float>(in[0], in[1], in[2], out, stream()); });
    row<float>(op::clamp, "heddle",
               [](auto& in, auto& out) { clamp<float>(in[0], -0.5f, 0.5f, out, stream()); });
    row<float>(op::axpy, "heddle", [](auto& in, auto&) { axpy<float>(alpha, in[0], in[1], stream()); });
#if HEDDLE_HAS_CUBLAS
    row<float>(op::axpy, "cublas", [](auto& in, auto&) {
        check(cublasSaxpy_64(cublas_handle(), size, &alpha, in[0].data(), 1, in[1].data(), 1));
    });
#endif
}

/// relu where the operands do not lie at their best.
void layouts() {
    device_row(of<float>(op::relu, size, fmt::format("{}-in-place", size)), "heddle", temperature::cold,
               [] { return [x = random_on_device<float>(size)]() mutable { relu<float>(x, x, stream()); }; });

    constexpr std::int64_t offset = 1;
    device_row(of<float>(op::relu, size - offset, fmt::format("{}-offset{}", size - offset, offset)),
               "heddle", temperature::cold, [] {
                   return [x = random_on_device<float>(size),
                           y = device_buffer<float>(size, stream())]() mutable {
                       relu<float>(vector_view<const float>{x.data() + offset, size - offset},
                                   vector_view<float>{y.data() + offset, size - offset}, stream());
                   };
               });

    constexpr std::int64_t rows = 1 << 14, cols = 1 << 14, stride = cols + 32;
    device_row(of<float>(op::relu, rows * cols, fmt::format("{}x{}-stride{}", rows, cols, stride)), "heddle",
               temperature::cold, [] {
                   return [x = random_on_device<float>(rows * stride),
                           y = device_buffer<float>(rows * stride, stream())]() mutable {
                       relu<float>(matrix_view<const float>{x.data(), rows, cols, stride},
                                   matrix_view<float>{y.data(), rows, cols, stride}, stream());
                   };
               });
}

}  // namespace

void register_elementwise() {
    activations<float>();
    activations<half>();
    arithmetic();
    unary<float>(op::abs, abs<float>);
    unary<float>(op::exp, exp<float>);
    unary<float>(op::gelu_tanh, gelu_tanh<float>);
    unary<float>(op::sigmoid_derivative, sigmoid_derivative<float>);
    unary<float>(op::tanh_derivative, tanh_derivative<float>);
    unary<float>(op::relu_derivative, relu_derivative<float>);
    unary<float>(op::gelu_derivative, gelu_derivative<float>);
    unary<float>(op::gelu_tanh_derivative, gelu_tanh_derivative<float>);
    unary<float>(op::silu_derivative, silu_derivative<float>);
    layouts();
}

}  // namespace heddle::bench
