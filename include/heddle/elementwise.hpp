#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of every elementwise operation; kernels/elementwise/README.md is their ladder. For each rung, the list
/// has its name, whether `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_ELEMENTWISE_RUNGS(RUNG) \
    RUNG(naive, always)                \
    RUNG(grid_stride, always)          \
    RUNG(vectorized, always)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class elementwise_algorithm { automatic, HEDDLE_ELEMENTWISE_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const elementwise_algorithm> elementwise_algorithms();
std::string_view to_string(elementwise_algorithm algorithm);

/// The operations. Each has the name of its function below.
enum class elementwise_operation {
    add,
    subtract,
    multiply,
    scale,
    axpy,
    fused_multiply_add,
    clamp,
    abs,
    exp,
    sigmoid,
    tanh,
    relu,
    gelu,
    gelu_tanh,
    silu,
    sigmoid_derivative,
    tanh_derivative,
    relu_derivative,
    gelu_derivative,
    gelu_tanh_derivative,
    silu_derivative
};

/// All operations. Tests and benchmarks iterate over them.
std::span<const elementwise_operation> elementwise_operations();
std::string_view to_string(elementwise_operation operation);
/// The number of inputs of an operation that are vectors or matrices: 1 to 3.
/// @throws invalid_argument  an unknown operation
int input_count(elementwise_operation operation);

struct elementwise_options {
    elementwise_algorithm algorithm = elementwise_algorithm::automatic;
};

/// The facts by which a call is planned. elementwise_problem_of() makes it.
struct elementwise_problem {
    int inputs = 1;  ///< 1 to 3
    /// The inputs, then the output. Vectors are matrices of one column. Others are empty. Strides of inputs may be 0.
    std::array<matrix_layout, 4> operands{};

    bool operator==(const elementwise_problem&) const = default;
};

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  a negative extent, more than 2^58 elements, inputs other than 1 to 3, elements not of 2,
///                           4 or 8 bytes, shapes that disagree, strides that overflow, an offset other than 0 to
///                           255, device.sm_count below 1
elementwise_algorithm select(const elementwise_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(elementwise_algorithm algorithm, const elementwise_problem& problem,
                    const device_traits& device);

namespace detail {

/// A view of any element type, and its name for errors. A vector is a matrix of one column.
struct operand {
    const char* name;
    bool is_vector;
    matrix_view<void> view;
};

template <class T>
operand operand_of(const char* name, const matrix_view<T>& m) {
    return {name,
            false,
            {const_cast<std::remove_const_t<T>*>(m.data), m.rows, m.cols, m.row_stride, m.col_stride}};
}
template <class T>
operand operand_of(const char* name, const vector_view<T>& v) {
    return {name, true, {const_cast<std::remove_const_t<T>*>(v.data), v.size, 1, v.stride}};
}

elementwise_problem elementwise_problem_of(std::span<const operand> operands, std::size_t element_bytes);

/// The facts of a call by which rungs and elementwise.cuh plan it.
struct elementwise_facts {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    int inputs = 1;
    std::size_t element_bytes = 4;
    /// In each operand, the elements of a row are contiguous, and each row begins `lead` elements beyond a multiple
    /// of 16 bytes. Operands that fill or shift packets (below) are excepted.
    bool in_packets = true;
    int lead = 0;
    /// Some input is transposed against the output: its contiguous elements lie along a column, the output's along a
    /// row.
    bool is_crossed = false;
    /// The number of inputs with a stride of 0. Their elements are read from a cache repeatedly.
    int broadcasts = 0;
    /// Some of these broadcast one element along each row, so that it fills whole packets.
    bool fills_packets = false;
    /// Some inputs of 1- or 2-byte elements are aligned otherwise than the output. Their packets span two in memory.
    bool shifts_packets = false;
};

/// Checks the operands of a call, and orders dimensions by address: row-major, and as one row where no row has a gap.
elementwise_facts prepare_elementwise(const char* operation, std::span<operand> operands,
                                      std::size_t element_bytes);

/// How a call is distributed over threads; heddle/elementwise.cuh has a kernel for each way.
enum class elementwise_way { packets, mixed_packets, along_rows, down_columns, tiles };

/// The common form of every call below: the operands are the inputs, then the output.
struct elementwise_call {
    elementwise_operation operation;
    element_type type;
    std::span<const operand> operands;
    double p = 0;  ///< the operation's scalars, in their order
    double q = 0;
};

void run(const elementwise_call& call, cuda::stream_ref stream, const elementwise_options& options);

// One function object for each signature, over views of one kind. overloaded() joins those for vectors and for
// matrices.

template <class T, elementwise_operation operation, template <class> class View>
struct unary {
    void operator()(View<const T> x, View<T> y, cuda::stream_ref stream,
                    const elementwise_options& options = {}) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y)};
        run({operation, element_type_of<T>, operands}, stream, options);
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct binary {
    void operator()(View<const T> x, View<const T> y, View<T> z, cuda::stream_ref stream,
                    const elementwise_options& options = {}) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y), operand_of("z", z)};
        run({operation, element_type_of<T>, operands}, stream, options);
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct ternary {
    void operator()(View<const T> x, View<const T> y, View<const T> z, View<T> w, cuda::stream_ref stream,
                    const elementwise_options& options = {}) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y), operand_of("z", z),
                                    operand_of("w", w)};
        run({operation, element_type_of<T>, operands}, stream, options);
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct scaled {
    void operator()(compute_type<T> alpha, View<const T> x, View<T> y, cuda::stream_ref stream,
                    const elementwise_options& options = {}) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y)};
        run({operation, element_type_of<T>, operands, alpha}, stream, options);
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct accumulated {
    void operator()(compute_type<T> alpha, View<const T> x, View<T> y, cuda::stream_ref stream,
                    const elementwise_options& options = {}) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y), operand_of("y", y)};
        run({operation, element_type_of<T>, operands, alpha}, stream, options);
    }
};

template <class T, elementwise_operation operation, template <class> class View>
struct clamped {
    void operator()(View<const T> x, compute_type<T> low, compute_type<T> high, View<T> y,
                    cuda::stream_ref stream, const elementwise_options& options = {}) const {
        const operand operands[] = {operand_of("x", x), operand_of("y", y)};
        run({operation, element_type_of<T>, operands, low, high}, stream, options);
    }
};

template <class OnVectors, class OnMatrices>
struct overloaded : OnVectors, OnMatrices {
    using OnVectors::operator();
    using OnMatrices::operator();
};

template <template <class, elementwise_operation, template <class> class> class Function, class T,
          elementwise_operation operation>
using elementwise_function =
    overloaded<Function<T, operation, vector_view>, Function<T, operation, matrix_view>>;

}  // namespace detail

/// The problem of a call with these operands, the inputs and then the output. Elements are not read; pointers may be
/// null.
/// @throws invalid_argument  as the call, but for pointers and overlaps
template <class... Views>
requires(sizeof...(Views) >= 2 && sizeof...(Views) <= 4) elementwise_problem
    elementwise_problem_of(const Views&... views) {
    constexpr const char* names[] = {"x", "y", "z", "w"};
    const char* const* next = names;
    const detail::operand operands[] = {detail::operand_of(*next++, views)...};
    return detail::elementwise_problem_of(operands, std::max({sizeof(*views.data)...}));
}

// Function objects: heddle::add<float>(x, y, z, stream[, options]).
//
// Operands are in device memory: vectors of equal size with any strides, or matrices of equal shape with any row and
// column strides. An input's strides may be 0, as in as_rows() and as_columns(): then one row is broadcast
// (row_stride), one column (col_stride) or one element (both). In place is allowed: the output may be exactly an
// input. Any other overlap of the output with an input is an error. The call is enqueued on `stream` and its device.
// It never synchronises or allocates, and is safe under stream capture. Empty views do nothing. T is float, double,
// half or bfloat16; the 16-bit types are computed in float and rounded once. Scalars (alpha, low, high) are float, or
// double if T is double. NaN, infinities and denormals follow IEEE 754. docs/accuracy.md bounds the errors.
//
// @throws invalid_argument  sizes disagree or are negative, a null or misaligned pointer, a stride smaller than a row
//                           (except 0, for an input), an overlap, an unknown algorithm (nothing is enqueued)
// @throws cuda_error        the launch failed

/// add<T>(x, y, z, stream): z = x + y
template <class T>
inline constexpr detail::elementwise_function<detail::binary, T, elementwise_operation::add> add{};
/// subtract<T>(x, y, z, stream): z = x - y
template <class T>
inline constexpr detail::elementwise_function<detail::binary, T, elementwise_operation::subtract> subtract{};
/// multiply<T>(x, y, z, stream): z = x * y
template <class T>
inline constexpr detail::elementwise_function<detail::binary, T, elementwise_operation::multiply> multiply{};
/// scale<T>(alpha, x, y, stream): y = alpha * x
template <class T>
inline constexpr detail::elementwise_function<detail::scaled, T, elementwise_operation::scale> scale{};
/// axpy<T>(alpha, x, y, stream): y = alpha * x + y, rounded once
template <class T>
inline constexpr detail::elementwise_function<detail::accumulated, T, elementwise_operation::axpy> axpy{};
/// fused_multiply_add<T>(x, y, z, w, stream): w = x * y + z, rounded once
template <class T>
inline constexpr detail::elementwise_function<detail::ternary, T, elementwise_operation::fused_multiply_add>
    fused_multiply_add{};
/// clamp<T>(x, low, high, y, stream): y = min(max(x, low), high); NaN stays NaN
/// @throws invalid_argument  also where low > high or either is NaN
template <class T>
inline constexpr detail::elementwise_function<detail::clamped, T, elementwise_operation::clamp> clamp{};
/// abs<T>(x, y, stream): y = |x|
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::abs> abs{};
/// exp<T>(x, y, stream): y = e^x
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::exp> exp{};
/// sigmoid<T>(x, y, stream): y = 1 / (1 + exp(-x))
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::sigmoid> sigmoid{};
/// tanh<T>(x, y, stream): y = tanh(x)
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::tanh> tanh{};
/// relu<T>(x, y, stream): y = max(x, 0); NaN stays NaN
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::relu> relu{};
/// gelu<T>(x, y, stream): y = x * (1 + erf(x / sqrt(2))) / 2; 0 at -Inf
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::gelu> gelu{};
/// gelu_tanh<T>(x, y, stream): y = x * (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715 x^3); 0 at -Inf
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::gelu_tanh> gelu_tanh{};
/// silu<T>(x, y, stream): y = x * sigmoid(x); 0 at -Inf
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::silu> silu{};

// The activations' derivatives: y = f'(x).
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::sigmoid_derivative>
    sigmoid_derivative{};
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::tanh_derivative>
    tanh_derivative{};
/// 0 at 0
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::relu_derivative>
    relu_derivative{};
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::gelu_derivative>
    gelu_derivative{};
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::gelu_tanh_derivative>
    gelu_tanh_derivative{};
template <class T>
inline constexpr detail::elementwise_function<detail::unary, T, elementwise_operation::silu_derivative>
    silu_derivative{};

}  // namespace heddle

#pragma GCC visibility pop
