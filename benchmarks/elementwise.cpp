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
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// A row added to each row of a matrix, and each row multiplied by an element of a column. Almost all bytes are the matrices'.
void broadcasts() {
    static constexpr std::int64_t rows = 1 << 13, cols = 1 << 13;
    const auto of_vector = [](op operation, std::int64_t elements, const char* shape) {
        constexpr double matrix = sizeof(float) * static_cast<double>(rows * cols);
        return problem{fmt::format("{}/{}/{}x{}-{}", to_string(operation), dtype<float>, rows, cols, shape),
                       matrix + sizeof(float) * static_cast<double>(elements), matrix};
    };
    const auto inputs = [](std::int64_t elements) {
        return std::pair{random_on_device<float>(rows * cols), random_on_device<float>(elements)};
    };
    device_row(of_vector(op::add, cols, "row"), "heddle", temperature::cold, [=] {
        return [in = inputs(cols), out = device_buffer<float>(rows * cols, stream())]() mutable {
            const auto& [x, row] = in;
            add<float>({x.data(), rows, cols}, as_rows(vector_view{row.data(), cols}, rows),
                       {out.data(), rows, cols}, stream());
        };
    });
    device_row(of_vector(op::multiply, rows, "column"), "heddle", temperature::cold, [=] {
        return [in = inputs(rows), out = device_buffer<float>(rows * cols, stream())]() mutable {
            const auto& [x, column] = in;
            multiply<float>({x.data(), rows, cols}, as_columns(vector_view{column.data(), rows}, cols),
                            {out.data(), rows, cols}, stream());
        };
    });
#if HEDDLE_HAS_CUBLAS
    // Its matrices are column-major: our rows are its columns, which a diagonal matrix on the right scales.
    device_row(of_vector(op::multiply, rows, "column"), "cublas", temperature::cold, [=] {
        return [in = inputs(rows), out = device_buffer<float>(rows * cols, stream())]() mutable {
            const auto& [x, column] = in;
            check(cublasSdgmm_64(cublas_handle(), CUBLAS_SIDE_RIGHT, cols, rows, x.data(), cols,
                                 column.data(), 1, out.data(), cols));
        };
    });
#endif
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
    broadcasts();
}

}  // namespace heddle::bench
