#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/own_functor.hpp"

namespace heddle::bench {
namespace {

using op = elementwise_operation;

constexpr std::int64_t medium = 1 << 20, large = 1 << 28;
constexpr float alpha = -1.25f;

/// An empty `shape` stands for the number of elements.
template <class T>
problem of(op operation, std::int64_t elements, std::string_view shape = "") {
    const double bytes = sizeof(T) * static_cast<double>(elements);
    return {fmt::format("{}/{}/{}", to_string(operation), dtype<T>,
                        shape.empty() ? std::to_string(elements) : std::string(shape)),
            input_count(operation) * bytes, bytes};
}

/// `call` takes x and y.
template <class T>
void unary_row(op operation, std::string_view library, auto call, std::int64_t size = large,
               temperature temperature = cold) {
    operand_row(of<T>(operation, size), library, temperature, call, random_vector<T>(size),
                result_vector<T>(size));
}

template <class T>
void unary(op operation, auto function) {
    unary_row<T>(operation, "heddle", [function](auto x, auto y) { function(x, y, stream()); });
}

template <class T>
void cub_row(op operation) {
    unary_row<T>(operation, "cub",
                 [operation](auto x, auto y) { cub_elementwise<T>(operation, {x.data}, y.data, x.size); });
}

#if HEDDLE_HAS_CUDNN
template <class T>
void cudnn_row(op operation, cudnnActivationMode_t mode, std::int64_t size = large,
               temperature temperature = cold) {
    prepared_row(
        of<T>(operation, size), "cudnn", temperature,
        [mode](auto x, auto y) {
            return [x, y, activation = cudnn_elementwise<T>(mode, x.size)] { activation(x.data, y.data); };
        },
        random_vector<T>(size), result_vector<T>(size));
}
#endif

// add and sigmoid have rows of each rung.

/// `comparison` adds the rows of a type, a size and a temperature beside the peers'. `rung` adds the row of a rung.
void rows_of_ladder(std::initializer_list<int> exponents, auto comparison, auto rung) {
    for (const int exponent : exponents)
        comparison.template operator()<float>(std::int64_t{1} << exponent, cold);
    for (const int exponent : {20, 22})
        comparison.template operator()<float>(std::int64_t{1} << exponent, hot);
    comparison.template operator()<double>(large, cold);
    comparison.template operator()<half>(large, cold);
    comparison.template operator()<bfloat16>(large, cold);
    for (const std::int64_t size : {medium, large})
        for (const auto algorithm : elementwise_algorithms()) rung(size, algorithm);
}

template <class T>
void add_row(std::int64_t size, temperature temperature,
             elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    operand_row(
        of<T>(op::add, size), implementation(algorithm), temperature,
        [algorithm](auto x, auto y, auto z) { add<T>(x, y, z, stream(), {.algorithm = algorithm}); },
        random_vector<T>(size), random_vector<T>(size), result_vector<T>(size));
}

/// cuBLAS computes y += x, which moves as many bytes.
template <class T>
void add_beside_peers(std::int64_t size, temperature temperature) {
    const auto x = random_vector<T>(size), y = x;
    add_row<T>(size, temperature);
    operand_row(
        of<T>(op::add, size), "cub", temperature,
        [](auto from, auto with, auto to) {
            cub_elementwise<T>(op::add, {from.data, with.data}, to.data, from.size);
        },
        x, y, result_vector<T>(size));
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>) {
        problem in_place = of<T>(op::add, size);
        in_place.footprint = in_place.bytes_read;
        operand_row(
            in_place, "cublas", temperature,
            [](auto from, auto to) {
                const float one = 1;
                check(cublasSaxpy_64(cublas_handle(), from.size, &one, from.data, 1, to.data, 1));
            },
            x, y);
    }
#endif
}

void add_on_host(std::int64_t size) {
    const auto x = random_vector<float>(size), y = x;
    host_operand_row(
        of<float>(op::add, size), "host", [](auto... views) { host::add<float>(views...); }, x, y,
        result_vector<float>(size));
#if HEDDLE_HAS_OPENBLAS
    host_operand_row(
        of<float>(op::add, size), "openblas",
        [](auto from, auto to) { cblas_saxpy(static_cast<blasint>(from.size), 1, from.data, 1, to.data, 1); },
        x, y);
#endif
}

template <class T>
void sigmoid_row(std::int64_t size, temperature temperature,
                 elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    unary_row<T>(
        op::sigmoid, implementation(algorithm),
        [algorithm](auto x, auto y) { sigmoid<T>(x, y, stream(), {.algorithm = algorithm}); }, size,
        temperature);
}

template <class T>
void sigmoid_beside_peers(std::int64_t size, temperature temperature) {
    sigmoid_row<T>(size, temperature);
    unary_row<T>(
        op::sigmoid, "cub", [](auto x, auto y) { cub_sigmoid(x.data, y.data, x.size); }, size, temperature);
#if HEDDLE_HAS_CUDNN
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>)
        cudnn_row<T>(op::sigmoid, CUDNN_ACTIVATION_SIGMOID, size, temperature);
#endif
}

// The other operations.

/// Activations that have peers.
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
    const auto x = random_vector<float>(large), y = x, z = x;
    const auto result = result_vector<float>(large);
    const auto row = [](op operation, auto call, auto... operands) {
        operand_row(of<float>(operation, large), "heddle", cold, call, operands...);
    };
    row(
        op::subtract, [](auto... all) { subtract<float>(all..., stream()); }, x, y, result);
    row(
        op::multiply, [](auto... all) { multiply<float>(all..., stream()); }, x, y, result);
    row(
        op::scale, [](auto... all) { scale<float>(alpha, all..., stream()); }, x, result);
    row(
        op::fused_multiply_add, [](auto... all) { fused_multiply_add<float>(all..., stream()); }, x, y, z,
        result);
    row(
        op::clamp, [](auto in, auto out) { clamp<float>(in, -0.5f, 0.5f, out, stream()); }, x, result);
    row(
        op::axpy, [](auto... all) { axpy<float>(alpha, all..., stream()); }, x, y);
#if HEDDLE_HAS_CUBLAS
    operand_row(
        of<float>(op::axpy, large), "cublas", cold,
        [](auto from, auto to) {
            check(cublasSaxpy_64(cublas_handle(), from.size, &alpha, from.data, 1, to.data, 1));
        },
        x, y);
#endif
}

/// relu in place, at unaligned addresses, and with a gap after each row.
void layouts() {
    const auto add = [](std::int64_t elements, std::string_view shape, auto call, auto... operands) {
        operand_row(of<float>(op::relu, elements, shape), "heddle", cold, call, operands...);
    };
    add(
        large, fmt::format("{}-in-place", large), [](auto x) { relu<float>(x, x, stream()); },
        random_vector<float>(large));

    constexpr std::int64_t offset = 1;
    const auto beyond = [](float* data) { return vector_view<float>{data + offset, large - offset}; };
    add(
        large - offset, fmt::format("{}-offset{}", large - offset, offset),
        [](auto x, auto y) { relu<float>(x, y, stream()); }, random_elements<float>(large, beyond),
        result_elements<float>(large, beyond));

    constexpr std::int64_t rows = 1 << 14, cols = 1 << 14, stride = cols + 32;
    const auto apart = [](float* data) { return matrix_view<float>{data, rows, cols, stride}; };
    add(
        rows * cols, fmt::format("{}x{}-stride{}", rows, cols, stride),
        [](auto x, auto y) { relu<float>(x, y, stream()); }, random_elements<float>(rows * stride, apart),
        result_elements<float>(rows * stride, apart));
}

/// Adds a vector to each row of a matrix, and multiplies each row by an element of a vector. Most bytes are the matrices'.
void broadcasts() {
    static constexpr std::int64_t rows = 1 << 13, cols = 1 << 13;
    const auto row = [](op operation, std::string_view library, std::int64_t elements, const char* shape,
                        auto call) {
        constexpr double matrix = sizeof(float) * static_cast<double>(rows * cols);
        const problem problem{
            fmt::format("{}/{}/{}x{}-{}", to_string(operation), dtype<float>, rows, cols, shape),
            matrix + sizeof(float) * static_cast<double>(elements), matrix};
        operand_row(problem, library, cold, call, random_matrix<float>(rows, cols),
                    random_vector<float>(elements), result_matrix<float>(rows, cols));
    };
    row(op::add, "heddle", cols, "row", [](auto x, auto bias, auto y) {
        add<float>(x, as_rows(vector_view<const float>(bias), rows), y, stream());
    });
    row(op::multiply, "heddle", rows, "column", [](auto x, auto column, auto y) {
        multiply<float>(x, as_columns(vector_view<const float>(column), cols), y, stream());
    });
#if HEDDLE_HAS_CUBLAS
    // cuBLAS's matrices are column-major. Our rows are its columns, which a diagonal matrix on the right scales.
    row(op::multiply, "cublas", rows, "column", [](auto x, auto column, auto y) {
        check(cublasSdgmm_64(cublas_handle(), CUBLAS_SIDE_RIGHT, cols, rows, x.data, cols, column.data, 1,
                             y.data, cols));
    });
#endif
}

}  // namespace

void register_add() {
    rows_of_ladder(
        {10, 12, 16, 20, 24, 28},
        []<class T>(std::int64_t size, temperature temperature) { add_beside_peers<T>(size, temperature); },
        [](std::int64_t size, elementwise_algorithm algorithm) { add_row<float>(size, cold, algorithm); });
    add_on_host(medium);
}

void register_sigmoid() {
    rows_of_ladder(
        {10, 14, 20, 24, 28},
        []<class T>(std::int64_t size, temperature temperature) {
            sigmoid_beside_peers<T>(size, temperature);
        },
        [](std::int64_t size, elementwise_algorithm algorithm) {
            sigmoid_row<float>(size, cold, algorithm);
        });
    host_operand_row(
        of<float>(op::sigmoid, medium), "host", [](auto x, auto y) { host::sigmoid<float>(x, y); },
        random_vector<float>(medium), result_vector<float>(medium));
}

void add_sigmoid_rows(std::string_view type, const extents& shape) {
    with_type_named<double, half, bfloat16, float>(type, [size = shape[0]]<class T>() {
        for (const auto algorithm : elementwise_algorithms()) sigmoid_row<T>(size, cold, algorithm);
        sigmoid_beside_peers<T>(size, cold);
    });
}

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
