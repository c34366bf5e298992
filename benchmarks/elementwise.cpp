#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/kernels.hpp"

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

template <class T>
auto unary_of(op operation, std::int64_t size = large) {
    return row_case(of<T>(operation, size), random_vector<T>(size), result_vector<T>(size));
}

template <class T>
void unary(op operation, auto function) {
    unary_of<T>(operation).row("heddle", cold, [function](auto x, auto y) { function(x, y, stream()); });
}

template <class T>
void cub_row(op operation) {
    unary_of<T>(operation).row("cub", cold, [operation](auto x, auto y) {
        cub_elementwise<T>(operation, {x.data}, y.data, x.size);
    });
}

#if HEDDLE_HAS_CUDNN
template <class T>
void cudnn_row(op operation, cudnnActivationMode_t mode, std::int64_t size = large,
               temperature temperature = cold) {
    unary_of<T>(operation, size).prepared_row("cudnn", temperature, [mode](auto x, auto y) {
        return [x, y, activation = cudnn_elementwise<T>(mode, x.size)] { activation(x.data, y.data); };
    });
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
auto add_of(std::int64_t size) {
    return row_case(of<T>(op::add, size), random_vector<T>(size), random_vector<T>(size),
                    result_vector<T>(size));
}

/// y += x, which moves as many bytes. For cuBLAS.
[[maybe_unused]] auto add_in_place(std::int64_t size) {
    problem in_place = of<float>(op::add, size);
    in_place.footprint = in_place.bytes_read;
    return row_case(in_place, random_vector<float>(size), random_vector<float>(size));
}

template <class T>
void add_row(std::int64_t size, temperature temperature,
             elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    add_of<T>(size).row(implementation(algorithm), temperature,
                        [algorithm](auto... views) { add<T>(views..., stream(), {.algorithm = algorithm}); });
}

template <class T>
void add_beside_peers(std::int64_t size, temperature temperature) {
    add_row<T>(size, temperature);
    add_of<T>(size).row("cub", temperature, [](auto x, auto y, auto z) {
        cub_elementwise<T>(op::add, {x.data, y.data}, z.data, x.size);
    });
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<T, float>)
        add_in_place(size).row("cublas", temperature, [](auto x, auto y) {
            const float one = 1;
            check(cublasSaxpy_64(cublas_handle(), x.size, &one, x.data, 1, y.data, 1));
        });
#endif
}

template <class T>
void sigmoid_row(std::int64_t size, temperature temperature,
                 elementwise_algorithm algorithm = elementwise_algorithm::automatic) {
    unary_of<T>(op::sigmoid, size).row(implementation(algorithm), temperature, [algorithm](auto x, auto y) {
        sigmoid<T>(x, y, stream(), {.algorithm = algorithm});
    });
}

template <class T>
void sigmoid_beside_peers(std::int64_t size, temperature temperature) {
    sigmoid_row<T>(size, temperature);
    unary_of<T>(op::sigmoid, size).row("cub", temperature, [](auto x, auto y) {
        cub_sigmoid(x.data, y.data, x.size);
    });
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
    unary_of<T>(op::gelu).row("heddle:transform", cold, [](auto x, auto y) { own_gelu<T>(x, y); });
    cub_row<T>(op::gelu);
    unary<T>(op::silu, silu<T>);
    cub_row<T>(op::silu);
}

void arithmetic() {
    const auto x = random_vector<float>(large), y = x, z = x;
    const auto result = result_vector<float>(large);
    const auto of_large = [](op operation, auto... operands) {
        return row_case(of<float>(operation, large), operands...);
    };
    const auto row = [](const auto& of, auto call) {
        of.row("heddle", cold, [call](auto... all) { call(all..., stream()); });
    };
    row(of_large(op::subtract, x, y, result), [](auto... all) { subtract<float>(all...); });
    row(of_large(op::multiply, x, y, result), [](auto... all) { multiply<float>(all...); });
    row(of_large(op::scale, x, result), [](auto... all) { scale<float>(alpha, all...); });
    row(of_large(op::fused_multiply_add, x, y, z, result),
        [](auto... all) { fused_multiply_add<float>(all...); });
    row(of_large(op::clamp, x, result), [](auto in, auto... out) { clamp<float>(in, -0.5f, 0.5f, out...); });
    const auto axpy_of_large = of_large(op::axpy, x, y);
    row(axpy_of_large, [](auto... all) { axpy<float>(alpha, all...); });
#if HEDDLE_HAS_CUBLAS
    axpy_of_large.row("cublas", cold, [](auto from, auto to) {
        check(cublasSaxpy_64(cublas_handle(), from.size, &alpha, from.data, 1, to.data, 1));
    });
#endif
}

/// relu in place, at unaligned addresses, and with a gap after each row.
void layouts() {
    const auto add = [](const std::string& shape, std::int64_t elements, auto... operands) {
        row_case(of<float>(op::relu, elements, shape), operands...)
            .row("heddle", cold, [](auto x, auto... y) {
                if constexpr (sizeof...(y) == 0)
                    relu<float>(x, x, stream());
                else
                    relu<float>(x, y..., stream());
            });
    };
    add(fmt::format("{}-in-place", large), large, random_vector<float>(large));

    constexpr std::int64_t offset = 1;
    const auto beyond = [](float* data) { return vector_view<float>{data + offset, large - offset}; };
    add(fmt::format("{}-offset{}", large - offset, offset), large - offset,
        random_elements<float>(large, beyond), result_elements<float>(large, beyond));

    constexpr std::int64_t rows = 1 << 14, cols = 1 << 14, stride = cols + 32;
    const auto apart = [](float* data) { return matrix_view<float>{data, rows, cols, stride}; };
    add(fmt::format("{}x{}-stride{}", rows, cols, stride), rows * cols,
        random_elements<float>(rows * stride, apart), result_elements<float>(rows * stride, apart));
}

/// Adds a vector to each row of a matrix, and multiplies each row by an element of a vector. Most bytes are the matrices'.
void broadcasts() {
    constexpr matrix_shape s{1 << 13, 1 << 13};
    const auto beside = [s](op operation, std::int64_t elements, std::string_view shape) {
        return row_case(fmt::format("{}-{}", s.name<float>(to_string(operation)), shape),
                        random_matrix<float>(s), random_vector<float>(elements), result_matrix<float>(s));
    };
    beside(op::add, s.cols, "row").row("heddle", cold, [](auto x, auto bias, auto y) {
        add<float>(x, as_rows(vector_view<const float>(bias), x.rows), y, stream());
    });
    const auto scaled = beside(op::multiply, s.rows, "column");
    scaled.row("heddle", cold, [](auto x, auto column, auto y) {
        multiply<float>(x, as_columns(vector_view<const float>(column), x.cols), y, stream());
    });
#if HEDDLE_HAS_CUBLAS
    // cuBLAS's matrices are column-major. Our rows are its columns, which a diagonal matrix on the right scales.
    scaled.row("cublas", cold, [](auto x, auto column, auto y) {
        check(cublasSdgmm_64(cublas_handle(), CUBLAS_SIDE_RIGHT, x.cols, x.rows, x.data, x.cols, column.data,
                             1, y.data, x.cols));
    });
#endif
}

}  // namespace

void register_add() {
    rows_of_ladder(
        {10, 12, 16, 20, 24, 28}, []<class T>(auto... of) { add_beside_peers<T>(of...); },
        [](std::int64_t size, elementwise_algorithm algorithm) { add_row<float>(size, cold, algorithm); });
    add_of<float>(medium).host_row("host", [](auto... views) { host::add<float>(views...); });
#if HEDDLE_HAS_OPENBLAS
    row_case(of<float>(op::add, medium), random_vector<float>(medium), random_vector<float>(medium))
        .host_row("openblas",
                  [](auto x, auto y) { cblas_saxpy(static_cast<blasint>(x.size), 1, x.data, 1, y.data, 1); });
#endif
}

void register_sigmoid() {
    rows_of_ladder(
        {10, 14, 20, 24, 28}, []<class T>(auto... of) { sigmoid_beside_peers<T>(of...); },
        [](std::int64_t size, elementwise_algorithm algorithm) {
            sigmoid_row<float>(size, cold, algorithm);
        });
    unary_of<float>(op::sigmoid, medium).host_row("host", [](auto x, auto y) { host::sigmoid<float>(x, y); });
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
