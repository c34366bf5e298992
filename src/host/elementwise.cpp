#include "kernels/device/math.hpp"
#include "src/elementwise/validate.hpp"
#include "src/host/activations.hpp"
#include <heddle/host.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace heddle::host {
namespace {

using activations::gelu_argument, activations::logistic, activations::normal_cdf, activations::weighted;

/// Elements that a thread takes at a time: enough to outweigh its start, and few enough to share the work evenly.
constexpr std::int64_t block = 16384;

template <class T>
matrix_view<T> typed(const detail::operand& o) {
    const auto& [data, rows, cols, row_stride, col_stride] = o.view;
    return {static_cast<T*>(data), rows, cols, row_stride, col_stride};
}

/// `function` takes an element of each input. It is a template parameter, as the compiler could not inline a pointer
/// into the loop.
template <class T, int inputs, class Function>
void for_each_element(std::span<const detail::operand> operands, Function function) {
    std::array<matrix_view<T>, 3> in{};
    for (std::size_t i = 0; i < 3; ++i) in[i] = typed<T>(operands[std::min<std::size_t>(i, inputs - 1)]);
    const matrix_view<T> out = typed<T>(operands[inputs]);
    const auto apply = [&](T x, T y, T z) {
        if constexpr (inputs == 1)
            return function(x);
        else if constexpr (inputs == 2)
            return function(x, y);
        else
            return function(x, y, z);
    };

    const bool unit = out.col_stride == 1 &&
                      std::ranges::all_of(in, [](const matrix_view<T>& m) { return m.col_stride == 1; });
    const std::int64_t blocks_per_row = kernels::divide_up(out.cols, block);
    // The static schedule gives neighbouring rows to one thread, so that short rows are grouped.
#pragma omp parallel for schedule(static) if (out.rows * out.cols > block)
    for (std::int64_t b = 0; b < out.rows * blocks_per_row; ++b) {
        const std::int64_t row = b / blocks_per_row;
        const std::int64_t first = b % blocks_per_row * block;
        const std::int64_t last = std::min(first + block, out.cols);
        const T* xs = in[0].data + row * in[0].row_stride;
        const T* ys = in[1].data + row * in[1].row_stride;
        const T* zs = in[2].data + row * in[2].row_stride;
        T* to = out.data + row * out.row_stride;
        if (unit) {
#pragma omp simd
            for (std::int64_t i = first; i < last; ++i) to[i] = apply(xs[i], ys[i], zs[i]);
        } else {
            for (std::int64_t i = first; i < last; ++i)
                to[i * out.col_stride] =
                    apply(xs[i * in[0].col_stride], ys[i * in[1].col_stride], zs[i * in[2].col_stride]);
        }
    }
}

/// The derivative of logistic(), logistic(x) * logistic(-x), without cancellation.
template <class C>
C logistic_slope(C x) {
    const C e = std::exp(-std::abs(x));
    return e / ((C{1} + e) * (C{1} + e));
}

template <class C>
C normal_density(C x) {
    return static_cast<C>(0.39894228040143267794) * std::exp(static_cast<C>(-0.5) * x * x);
}

template <class T>
void run_typed(const detail::elementwise_call& call) {
    using compute = compute_type<T>;
    const auto p = static_cast<compute>(call.p);
    const auto q = static_cast<compute>(call.q);
    // The functions take and return the type of the computation.
    const auto unary = [&](auto function) {
        for_each_element<T, 1>(call.operands,
                               [=](T x) { return static_cast<T>(function(static_cast<compute>(x))); });
    };
    const auto binary = [&](auto function) {
        for_each_element<T, 2>(call.operands, [=](T x, T y) {
            return static_cast<T>(function(static_cast<compute>(x), static_cast<compute>(y)));
        });
    };
    const auto ternary = [&](auto function) {
        for_each_element<T, 3>(call.operands, [=](T x, T y, T z) {
            return static_cast<T>(
                function(static_cast<compute>(x), static_cast<compute>(y), static_cast<compute>(z)));
        });
    };
    using argument = gelu_argument<compute>;
    switch (call.operation) {
        case elementwise_operation::add:
            return binary([](compute x, compute y) { return x + y; });
        case elementwise_operation::subtract:
            return binary([](compute x, compute y) { return x - y; });
        case elementwise_operation::multiply:
            return binary([](compute x, compute y) { return x * y; });
        case elementwise_operation::scale:
            return unary([p](compute x) { return p * x; });
        case elementwise_operation::axpy:
            return binary([p](compute x, compute y) { return std::fma(p, x, y); });
        case elementwise_operation::fused_multiply_add:
            return ternary([](compute x, compute y, compute z) { return std::fma(x, y, z); });
        case elementwise_operation::clamp:
            return unary([p, q](compute x) { return x < p ? p : x > q ? q : x; });
        case elementwise_operation::abs:
            return unary([](compute x) { return std::abs(x); });
        case elementwise_operation::exp:
            return unary([](compute x) { return std::exp(x); });
        case elementwise_operation::sigmoid:
            return unary([](compute x) { return logistic(x); });
        case elementwise_operation::tanh:
            return unary([](compute x) { return std::tanh(x); });
        case elementwise_operation::relu:
            return unary([](compute x) { return activations::relu(x); });
        case elementwise_operation::gelu:
            return unary([](compute x) { return activations::gelu(x); });
        case elementwise_operation::gelu_tanh:
            return unary([](compute x) { return activations::gelu_tanh(x); });
        case elementwise_operation::silu:
            return unary([](compute x) { return activations::silu(x); });
        case elementwise_operation::sigmoid_derivative:
            return unary([](compute x) { return logistic_slope(x); });
        case elementwise_operation::tanh_derivative:
            return unary([](compute x) { return 4 * logistic_slope(2 * x); });
        case elementwise_operation::relu_derivative:
            return unary([](compute x) { return x > 0 ? compute{1} : x <= 0 ? compute{0} : x; });
        case elementwise_operation::gelu_derivative:
            return unary([](compute x) { return normal_cdf(x) + weighted(x, normal_density(x)); });
        case elementwise_operation::gelu_tanh_derivative:
            return unary([](compute x) {
                const compute u = argument::value(x);
                return logistic(u) + weighted(x * argument::slope(x), logistic_slope(u));
            });
        case elementwise_operation::silu_derivative:
            return unary([](compute x) { return logistic(x) + weighted(x, logistic_slope(x)); });
    }
}

}  // namespace

}  // namespace heddle::host

namespace heddle::detail {

void on_host::run(const elementwise_call& call) {
    const char* operation = host_name(call.operation);
    validate_elementwise(operation, call.operands, size_of(call.type), zero_strides::allowed);
    validate_scalars(operation, call);

    // Operands hold a vector as a column. Here it becomes a row.
    std::array<operand, 4> operands{};
    std::ranges::copy(call.operands, operands.begin());
    for (operand& o : operands)
        if (o.is_vector) o.view = {o.view.data, 1, o.view.rows, o.view.rows, o.view.row_stride};
    const elementwise_call rows{call.operation, call.type, std::span(operands).first(call.operands.size()),
                                call.p, call.q};
    switch (call.type) {
        case element_type::f32:
            return host::run_typed<float>(rows);
        case element_type::f64:
            return host::run_typed<double>(rows);
        case element_type::f16:
            return host::run_typed<half>(rows);
        case element_type::bf16:
            return host::run_typed<bfloat16>(rows);
    }
}

}  // namespace heddle::detail
