#include "src/norm/rungs.hpp"
#include "src/norm/validate.hpp"
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The problem of a call, after all checks; without elements, after those of shapes and strides alone.
template <class T>
norm_problem validated(const char* operation, const kernels::norm::arguments<T>& a,
                       bool have_elements = true) {
    detail::validate_norm(operation, a.x, a.gamma, a.beta, a.y, a.epsilon, have_elements);
    return {layout_of(a.x), layout_of(a.y), layout_of(a.gamma), layout_of(a.beta)};
}

template <bool centred, class T>
void run(const char* operation, const kernels::norm::arguments<T>& a, cuda::stream_ref stream,
         norm_algorithm algorithm) {
    const auto rungs = detail::norm_rungs<centred, T>();
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    const kernels::norm::norm_facts facts(validated(operation, a));
    detail::choose_and_launch(operation, rungs, algorithm, facts, a, stream);
}

}  // namespace

template <class T>
norm_problem norm_problem_of(matrix_view<const std::type_identity_t<T>> x,
                             vector_view<const std::type_identity_t<T>> gamma,
                             vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y) {
    constexpr float no_epsilon = 0;
    constexpr bool have_elements = false;
    return validated<T>("norm_problem_of", {x, gamma, beta, y, no_epsilon}, have_elements);
}

template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x,
                vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, cuda::stream_ref stream,
                const norm_options& options) {
    run<true, T>("layer_norm", {x, gamma, beta, y, options.epsilon}, stream, options.algorithm);
}

template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, cuda::stream_ref stream, const norm_options& options) {
    run<false, T>("rms_norm", {x, gamma, {}, y, options.epsilon}, stream, options.algorithm);
}

#define INSTANTIATE(T)                                                                                      \
    template norm_problem norm_problem_of<T>(matrix_view<const T>, vector_view<const T>,                    \
                                             vector_view<const T>, matrix_view<T>);                         \
    template void layer_norm<T>(matrix_view<const T>, vector_view<const T>, vector_view<const T>,           \
                                matrix_view<T>, cuda::stream_ref, const norm_options&);                     \
    template void rms_norm<T>(matrix_view<const T>, vector_view<const T>, matrix_view<T>, cuda::stream_ref, \
                              const norm_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
