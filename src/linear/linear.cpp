#include "src/linear/rungs.hpp"
#include "src/linear/validate.hpp"
#include "src/matmul/rungs.hpp"
#include "src/workspace.hpp"
#include <heddle/linear.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

matmul_options product_options(const linear_options& options) {
    return {.algorithm = options.algorithm,
            .workspace = options.workspace,
            .scratch = options.scratch,
            .precision = options.precision};
}

matmul_options product_options(const linear_gradient_options& options) {
    return {.workspace = options.workspace, .scratch = options.scratch, .precision = options.precision};
}

template <class T>
bool has_elements(const matrix_view<T>& m) {
    return m.rows != 0 && m.cols != 0;
}

/// All checks of a call of linear_gradient(), with the memory of its operands or without.
template <class T>
void validate_call(const char* operation, const matrix_view<const T>& x, const matrix_view<const T>& weights,
                   const matrix_view<const T>& gradient, const matrix_view<T>& dx,
                   const matrix_view<float>& dweights, const vector_view<float>& dbias,
                   const linear_gradient_options& options, bool have_elements = false) {
    detail::linear_gradient_rungs<T>().require_known(operation, {"options", "algorithm"}, options.algorithm);
    detail::validate_choice(operation, product_options(options));
    detail::validate_linear_gradient(operation, x, weights, gradient, dx, dweights, dbias, options,
                                     have_elements);
}

/// The problem of a call whose arguments are valid.
template <class T>
linear_gradient_problem describe(const matrix_view<const T>& weights, const matrix_view<const T>& gradient,
                                 const matrix_view<T>& dx, const linear_gradient_options& options) {
    if (!has_elements(dx)) return {};
    return {.product = matmul_problem_of<T>(gradient, weights, dx, product_options(options)),
            .has_derivative = options.activation_of_x != matmul_activation::none};
}

/// The workspace with which dx, dweights and dbias are computed the fastest. `fused` takes none for dx.
template <class T>
std::int64_t workspace_bytes(linear_gradient_algorithm rung, const linear_gradient_problem& problem,
                             const matrix_view<const T>& x, const matrix_view<const T>& gradient,
                             const matrix_view<float>& dweights, const vector_view<float>& dbias,
                             const device_traits& device, const linear_gradient_options& options) {
    std::int64_t bytes = 0;
    if (rung == linear_gradient_algorithm::separate) bytes = matmul_workspace_bytes(problem.product, device);
    if (has_elements(dweights)) {
        const auto product =
            matmul_problem_of<float, T>(transposed(gradient), x, dweights, product_options(options));
        bytes = std::max(bytes, matmul_workspace_bytes(product, device));
    }
    if (dbias.size > 0)
        bytes = std::max(bytes, matrix_reduce_workspace_bytes(column_problem(gradient), device));
    return bytes;
}

}  // namespace

template <class T>
std::int64_t linear_workspace_bytes(matrix_view<const std::type_identity_t<T>> x,
                                    matrix_view<const std::type_identity_t<T>> weights,
                                    vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y,
                                    cuda::stream_ref stream, const linear_options& options) {
    constexpr const char* operation = "linear_workspace_bytes";
    detail::validate_choice(operation, product_options(options));
    constexpr bool have_elements = false;
    detail::validate_linear(operation, x, weights, bias, y, options, have_elements);
    matmul_problem problem = matmul_problem_of<T>(x, transposed(weights), y, product_options(options));
    problem.has_epilogue = bias.size > 0 || options.activation != matmul_activation::none;
    return matmul_workspace_bytes(problem, traits_of(device_of(stream)), options.algorithm);
}

template <class T>
void linear(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> weights,
            vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y, cuda::stream_ref stream,
            const linear_options& options) {
    using detail::footprint_of;
    detail::validate_choice("linear", product_options(options));
    detail::validate_linear("linear", x, weights, bias, y, options);
    detail::validate_workspace("linear", options.workspace,
                               {{"x", footprint_of(x)},
                                {"weights", footprint_of(weights)},
                                {"bias", footprint_of(bias)},
                                {"y", footprint_of(y)}});
    detail::validate_scratch("linear", options.scratch);
    if (!options.workspace.empty()) {
        const std::int64_t bytes = linear_workspace_bytes<T>(x, weights, bias, y, stream, options);
        detail::require(std::ssize(options.workspace) >= bytes, "linear", {"options", "workspace"},
                        options.workspace.size(), "at least {} bytes", bytes);
    }
    matmul<T>(x, transposed(weights), y, {.activation = options.activation, .row_bias = bias}, stream,
              product_options(options));
}

template <class T>
linear_gradient_problem linear_gradient_problem_of(matrix_view<const std::type_identity_t<T>> x,
                                                   matrix_view<const std::type_identity_t<T>> weights,
                                                   matrix_view<const std::type_identity_t<T>> gradient,
                                                   matrix_view<T> dx,
                                                   const linear_gradient_options& options) {
    validate_call("linear_gradient_problem_of", x, weights, gradient, dx, {}, {}, options);
    return describe(weights, gradient, dx, options);
}

template <class T>
std::int64_t linear_gradient_workspace_bytes(matrix_view<const std::type_identity_t<T>> x,
                                             matrix_view<const std::type_identity_t<T>> weights,
                                             matrix_view<const std::type_identity_t<T>> gradient,
                                             matrix_view<T> dx, matrix_view<float> dweights,
                                             vector_view<float> dbias, cuda::stream_ref stream,
                                             const linear_gradient_options& options) {
    constexpr const char* operation = "linear_gradient_workspace_bytes";
    validate_call(operation, x, weights, gradient, dx, dweights, dbias, options);
    const device_traits& device = traits_of(device_of(stream));
    const linear_gradient_problem problem = describe(weights, gradient, dx, options);
    if (!why_not(options.algorithm, problem, device).empty()) return 0;
    const auto* rung =
        detail::linear_gradient_rungs<T>().choose(operation, options.algorithm, problem, device).rung;
    return workspace_bytes(rung->id, problem, x, gradient, dweights, dbias, device, options);
}

template <class T>
void linear_gradient(matrix_view<const std::type_identity_t<T>> x,
                     matrix_view<const std::type_identity_t<T>> weights,
                     matrix_view<const std::type_identity_t<T>> gradient, matrix_view<T> dx,
                     matrix_view<float> dweights, vector_view<float> dbias, cuda::stream_ref stream,
                     const linear_gradient_options& options) {
    using detail::footprint_of;
    constexpr const char* operation = "linear_gradient";
    constexpr bool have_elements = true;
    validate_call(operation, x, weights, gradient, dx, dweights, dbias, options, have_elements);
    detail::validate_workspace(operation, options.workspace,
                               {{"x", footprint_of(x)},
                                {"weights", footprint_of(weights)},
                                {"gradient", footprint_of(gradient)},
                                {"dx", footprint_of(dx)},
                                {"dweights", footprint_of(dweights)},
                                {"dbias", footprint_of(dbias)}});
    detail::validate_scratch(operation, options.scratch);
    if (!has_elements(dx) && !has_elements(dweights) && dbias.size == 0) return;

    const detail::stream_device device(stream);
    const linear_gradient_problem problem = describe(weights, gradient, dx, options);
    const auto rungs = detail::linear_gradient_rungs<T>();
    const auto asked = rungs.choose(operation, options.algorithm, problem, device.traits());
    // Empty sums have no tiles, so `fused` cannot compute them.
    const auto [rung, plan] = gradient.cols > 0 ? asked
                                                : rungs.choose(operation, linear_gradient_algorithm::separate,
                                                               problem, device.traits());
    if (!options.workspace.empty()) {
        const std::int64_t bytes =
            workspace_bytes(rung->id, problem, x, gradient, dweights, dbias, device.traits(), options);
        detail::require(std::ssize(options.workspace) >= bytes, operation, {"options", "workspace"},
                        options.workspace.size(), "at least {} bytes", bytes);
    }

    if (has_elements(dx))
        rung->launch(plan, {gradient, weights, x, dx, options.activation_of_x, product_options(options)},
                     stream.get());
    if (has_elements(dweights))
        matmul<float, T>(transposed(gradient), x, dweights, stream, product_options(options));
    if (dbias.size > 0)
        column_sum(gradient, dbias, stream, {.workspace = options.workspace, .scratch = options.scratch});
}

#define INSTANTIATE(T)                                                                                      \
    template std::int64_t linear_workspace_bytes<T>(matrix_view<const T>, matrix_view<const T>,             \
                                                    vector_view<const T>, matrix_view<T>, cuda::stream_ref, \
                                                    const linear_options&);                                 \
    template void linear<T>(matrix_view<const T>, matrix_view<const T>, vector_view<const T>,               \
                            matrix_view<T>, cuda::stream_ref, const linear_options&);                       \
    template linear_gradient_problem linear_gradient_problem_of<T>(                                         \
        matrix_view<const T>, matrix_view<const T>, matrix_view<const T>, matrix_view<T>,                   \
        const linear_gradient_options&);                                                                    \
    template std::int64_t linear_gradient_workspace_bytes<T>(                                               \
        matrix_view<const T>, matrix_view<const T>, matrix_view<const T>, matrix_view<T>,                   \
        matrix_view<float>, vector_view<float>, cuda::stream_ref, const linear_gradient_options&);          \
    template void linear_gradient<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<const T>,      \
                                     matrix_view<T>, matrix_view<float>, vector_view<float>,                \
                                     cuda::stream_ref, const linear_gradient_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
