// Every elementwise operation but add and sigmoid, which are operations of their own.

#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/own_functor.hpp"
#include <heddle/elementwise.hpp>

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

/// `call` takes the operands: as many random ones as the operation has, and the result.
template <class T>
void row(op operation, std::string_view library, auto call, auto... operands) {
    operand_row(of<T>(operation, size, std::to_string(size)), library, cold, call, operands...);
}

template <class T>
void unary_row(op operation, std::string_view library, auto call) {
    row<T>(operation, library, call, random_vector<T>(size), result_vector<T>(size));
}

template <class T>
void unary(op operation, auto function) {
    unary_row<T>(operation, "heddle", [function](auto x, auto y) { function(x, y, stream()); });
}

template <class T>
void cub_row(op operation) {
    unary_row<T>(operation, "cub",
                 [operation](auto x, auto y) { cub_elementwise<T>(operation, {x.data}, y.data, size); });
}

#if HEDDLE_HAS_CUDNN
template <class T>
void cudnn_row(op operation, cudnnActivationMode_t mode) {
    prepared_row(
        of<T>(operation, size, std::to_string(size)), "cudnn", cold,
        [mode](auto x, auto y) {
            return [x, y, activation = cudnn_elementwise<T>(mode, size)] { activation(x.data, y.data); };
        },
        random_vector<T>(size), result_vector<T>(size));
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
    unary_row<T>(op::gelu, "heddle:transform", [](auto x, auto y) { own_gelu<T>(x, y); });
    cub_row<T>(op::gelu);
    unary<T>(op::silu, silu<T>);
    cub_row<T>(op::silu);
}

void arithmetic() {
    const auto x = random_vector<float>(size), y = x, z = x;
    const auto result = result_vector<float>(size);
    const auto add = [](op operation, auto call, auto... operands) {
        row<float>(operation, "heddle", call, operands...);
    };
    add(
        op::subtract, [](auto... all) { subtract<float>(all..., stream()); }, x, y, result);
    add(
        op::multiply, [](auto... all) { multiply<float>(all..., stream()); }, x, y, result);
    add(
        op::scale, [](auto... all) { scale<float>(alpha, all..., stream()); }, x, result);
    add(
        op::fused_multiply_add, [](auto... all) { fused_multiply_add<float>(all..., stream()); }, x, y, z,
        result);
    add(
        op::clamp, [](auto in, auto out) { clamp<float>(in, -0.5f, 0.5f, out, stream()); }, x, result);
    add(
        op::axpy, [](auto... all) { axpy<float>(alpha, all..., stream()); }, x, y);
#if HEDDLE_HAS_CUBLAS
    row<float>(
        op::axpy, "cublas",
        [](auto in, auto out) {
            check(cublasSaxpy_64(cublas_handle(), size, &alpha, in.data, 1, out.data, 1));
        },
        x, y);
#endif
}

/// relu where the operands do not lie at their best.
void layouts() {
    const auto add = [](std::int64_t elements, std::string_view shape, auto call, auto... operands) {
        operand_row(of<float>(op::relu, elements, shape), "heddle", cold, call, operands...);
    };
    add(
        size, fmt::format("{}-in-place", size), [](auto x) { relu<float>(x, x, stream()); },
        random_vector<float>(size));

    constexpr std::int64_t offset = 1;
    const auto beyond = [](float* data) { return vector_view<float>{data + offset, size - offset}; };
    add(
        size - offset, fmt::format("{}-offset{}", size - offset, offset),
        [](auto x, auto y) { relu<float>(x, y, stream()); }, random_elements<float>(size, beyond),
        result_elements<float>(size, beyond));

    constexpr std::int64_t rows = 1 << 14, cols = 1 << 14, stride = cols + 32;
    const auto apart = [](float* data) { return matrix_view<float>{data, rows, cols, stride}; };
    add(
        rows * cols, fmt::format("{}x{}-stride{}", rows, cols, stride),
        [](auto x, auto y) { relu<float>(x, y, stream()); }, random_elements<float>(rows * stride, apart),
        result_elements<float>(rows * stride, apart));
}

/// A row added to each row of a matrix, and each row multiplied by an element of a column. Almost all bytes are the matrices'.
void broadcasts() {
    static constexpr std::int64_t rows = 1 << 13, cols = 1 << 13;
    const auto add_row = [](op operation, std::string_view library, std::int64_t elements, const char* shape,
                            auto call) {
        constexpr double matrix = sizeof(float) * static_cast<double>(rows * cols);
        const problem problem{
            fmt::format("{}/{}/{}x{}-{}", to_string(operation), dtype<float>, rows, cols, shape),
            matrix + sizeof(float) * static_cast<double>(elements), matrix};
        operand_row(problem, library, cold, call, random_matrix<float>(rows, cols),
                    random_vector<float>(elements), result_matrix<float>(rows, cols));
    };
    add_row(op::add, "heddle", cols, "row", [](auto x, auto row, auto y) {
        add<float>(x, as_rows(vector_view<const float>(row), rows), y, stream());
    });
    add_row(op::multiply, "heddle", rows, "column", [](auto x, auto column, auto y) {
        multiply<float>(x, as_columns(vector_view<const float>(column), cols), y, stream());
    });
#if HEDDLE_HAS_CUBLAS
    // Its matrices are column-major: our rows are its columns, which a diagonal matrix on the right scales.
    add_row(op::multiply, "cublas", rows, "column", [](auto x, auto column, auto y) {
        check(cublasSdgmm_64(cublas_handle(), CUBLAS_SIDE_RIGHT, cols, rows, x.data, cols, column.data, 1,
                             y.data, cols));
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
