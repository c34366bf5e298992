#pragma once

#include "src/matmul/validate.hpp"
#include "src/validate.hpp"
#include <heddle/linear.hpp>

#include <cstdint>

namespace heddle::detail {

/// Checks that a matrix has the shape that other operands require.
template <class T>
void validate_of_shape(const char* operation, const char* name, const matrix_view<T>& m, std::int64_t rows,
                       const char* rows_name, std::int64_t cols, const char* cols_name) {
    require(m.rows == rows, operation, {name, "rows"}, m.rows, "{} ({})", rows, rows_name);
    require(m.cols == cols, operation, {name, "cols"}, m.cols, "{} ({})", cols, cols_name);
}

template <class T>
void validate_layer(const char* operation, const matrix_view<const T>& x,
                    const matrix_view<const T>& weights) {
    require(weights.cols == x.cols, operation, {"weights", "cols"}, weights.cols, "{} (x.cols)", x.cols);
}

/// Checks the arguments of linear() on the GPU or the CPU; without elements, all but their memory.
template <class T>
void validate_linear(const char* operation, const matrix_view<const T>& x,
                     const matrix_view<const T>& weights, const vector_view<const T>& bias,
                     const matrix_view<T>& y, const linear_options& options, bool have_elements = true) {
    validate_activation(operation, {"options", "activation"}, options.activation);
    validate(operation, "x", x, have_elements);
    validate(operation, "weights", weights, have_elements);
    validate(operation, "y", y, have_elements);
    validate_layer(operation, x, weights);
    validate_of_shape(operation, "y", y, x.rows, "x.rows", weights.rows, "weights.rows");
    require(bias.size == 0 || bias.size == weights.rows, operation, {"bias", "size"}, bias.size,
            "{} (weights.rows), or 0", weights.rows);
    if (!have_elements) return;
    validate(operation, "bias", bias);
    validate_disjoint(operation, "y", y, "x", x);
    validate_disjoint(operation, "y", y, "weights", weights);
    validate_disjoint(operation, "y", y, "bias", bias);
}

/// Whether the derivative of an activation can be computed from its result.
constexpr bool has_derivative_of_result(matmul_activation activation) {
    using enum matmul_activation;
    return activation == none || activation == relu || activation == sigmoid || activation == tanh;
}

/// Checks the arguments of linear_gradient() on the GPU or the CPU; without elements, all but their memory.
template <class T>
void validate_linear_gradient(const char* operation, const matrix_view<const T>& x,
                              const matrix_view<const T>& weights, const matrix_view<const T>& gradient,
                              const matrix_view<T>& dx, const matrix_view<float>& dweights,
                              const vector_view<float>& dbias, const linear_gradient_options& options,
                              bool have_elements = true) {
    require(has_derivative_of_result(options.activation_of_x), operation, {"options", "activation_of_x"},
            static_cast<int>(options.activation_of_x),
            "none, relu, sigmoid or tanh: of others the derivative does not follow from the result");
    validate(operation, "x", x, have_elements);
    validate(operation, "weights", weights, have_elements);
    validate(operation, "gradient", gradient, have_elements);
    validate(operation, "dx", dx, have_elements);
    validate(operation, "dweights", dweights, have_elements);
    validate_layer(operation, x, weights);
    validate_of_shape(operation, "gradient", gradient, x.rows, "x.rows", weights.rows, "weights.rows");
    if (is_given(dx)) validate_of_shape(operation, "dx", dx, x.rows, "x.rows", x.cols, "x.cols");
    if (is_given(dweights))
        validate_of_shape(operation, "dweights", dweights, weights.rows, "weights.rows", weights.cols,
                          "weights.cols");
    require(dbias.size == 0 || dbias.size == weights.rows, operation, {"dbias", "size"}, dbias.size,
            "{} (weights.rows), or 0", weights.rows);
    if (!have_elements) return;
    validate(operation, "dbias", dbias);
    const auto validate_apart = [&](const char* name, const auto& output) {
        validate_disjoint(operation, name, output, "x", x);
        validate_disjoint(operation, name, output, "weights", weights);
        validate_disjoint(operation, name, output, "gradient", gradient);
    };
    validate_apart("dx", dx);
    validate_apart("dweights", dweights);
    validate_apart("dbias", dbias);
    validate_disjoint(operation, "dweights", dweights, "dx", dx);
    validate_disjoint(operation, "dbias", dbias, "dx", dx);
    validate_disjoint(operation, "dbias", dbias, "dweights", dweights);
}

}  // namespace heddle::detail
