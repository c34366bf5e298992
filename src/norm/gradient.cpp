#include "src/norm/gradient_rungs.hpp"
#include "src/norm/validate_gradient.hpp"
#include "src/workspace.hpp"
#include <heddle/copy.hpp>
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The problem of a call, after all checks; without elements, after those of shapes and strides alone.
template <class T>
norm_gradient_problem validated(const char* operation, const kernels::norm::gradient_arguments<T>& a,
                                const norm_gradient_options& options, bool have_elements = true) {
    detail::validate_norm_gradient(operation, a.x, a.gamma, a.dy, a.dx, a.dgamma, a.dbeta, options.epsilon,
                                   have_elements);
    const bool wants_dx = a.dx.rows > 0 && a.dx.cols > 0;
    return {layout_of(a.x),
            layout_of(a.dy),
            wants_dx ? layout_of(a.dx) : matrix_layout{},
            layout_of(a.gamma),
            layout_of(a.dgamma),
            layout_of(a.dbeta),
            detail::has_scratch(options)};
}

template <bool centred, class T>
void run(const char* operation, kernels::norm::gradient_arguments<T> a, cuda::stream_ref stream,
         const norm_gradient_options& options) {
    const auto rungs = detail::norm_gradient_rungs<centred, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    kernels::norm::gradient_facts facts(validated(operation, a, options));
    detail::validate_workspace(operation, options.workspace,
                               {{"x", detail::footprint_of(a.x)},
                                {"gamma", detail::footprint_of(a.gamma)},
                                {"dy", detail::footprint_of(a.dy)},
                                {"dx", detail::footprint_of(a.dx)},
                                {"dgamma", detail::footprint_of(a.dgamma)},
                                {"dbeta", detail::footprint_of(a.dbeta)}});
    if (a.x.cols == 0) return;
    if (a.dx.cols == 0) a.dx.rows = 0;
    if (!facts.has_column_sums && a.dx.rows == 0) return;
    const detail::stream_device device(stream);
    if (a.x.rows == 0) {
        if (a.dgamma.size > 0) fill_zero(a.dgamma, stream);
        if (a.dbeta.size > 0) fill_zero(a.dbeta, stream);
        return;
    }
    const auto [chosen, workspace] =
        detail::plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
            facts.has_scratch = has_scratch;
            return rungs.choose(operation, options.algorithm, facts, device.traits());
        });
    a.scratch = workspace.scratch();
    chosen.rung->launch(chosen.plan, a, stream.get());
}

}  // namespace

template <class T>
norm_gradient_problem norm_gradient_problem_of(matrix_view<const std::type_identity_t<T>> x,
                                               vector_view<const std::type_identity_t<T>> gamma,
                                               matrix_view<const T> dy,
                                               matrix_view<std::type_identity_t<T>> dx,
                                               vector_view<std::type_identity_t<T>> dgamma,
                                               vector_view<std::type_identity_t<T>> dbeta,
                                               const norm_gradient_options& options) {
    constexpr bool have_elements = false;
    return validated<T>("norm_gradient_problem_of", {x, gamma, dy, dx, dgamma, dbeta, options.epsilon},
                        options, have_elements);
}

template <class T>
void layer_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                         vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                         matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                         vector_view<std::type_identity_t<T>> dbeta, cuda::stream_ref stream,
                         const norm_gradient_options& options) {
    run<true, T>("layer_norm_gradient", {x, gamma, dy, dx, dgamma, dbeta, options.epsilon}, stream, options);
}

template <class T>
void rms_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                       vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                       matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                       cuda::stream_ref stream, const norm_gradient_options& options) {
    run<false, T>("rms_norm_gradient", {x, gamma, dy, dx, dgamma, {}, options.epsilon}, stream, options);
}

#define INSTANTIATE(T)                                                                                     \
    template norm_gradient_problem norm_gradient_problem_of<T>(                                            \
        matrix_view<const T>, vector_view<const T>, matrix_view<const T>, matrix_view<T>, vector_view<T>,  \
        vector_view<T>, const norm_gradient_options&);                                                     \
    template void layer_norm_gradient<T>(matrix_view<const T>, vector_view<const T>, matrix_view<const T>, \
                                         matrix_view<T>, vector_view<T>, vector_view<T>, cuda::stream_ref, \
                                         const norm_gradient_options&);                                    \
    template void rms_norm_gradient<T>(matrix_view<const T>, vector_view<const T>, matrix_view<const T>,   \
                                       matrix_view<T>, vector_view<T>, cuda::stream_ref,                   \
                                       const norm_gradient_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
