#include "src/elementwise/validate.hpp"
#include "src/softmax/rungs.hpp"
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The problem of a call, after all checks; without elements, after those of shapes and strides alone.
template <class T>
softmax_problem validated(const char* operation, const kernels::softmax::arguments<T>& a,
                          bool have_elements = true) {
    detail::validate_unary(operation, a.x, a.y, have_elements);
    return {layout_of(a.x), layout_of(a.y)};
}

template <bool logarithm, class T>
void run(const char* operation, const kernels::softmax::arguments<T>& a, cuda::stream_ref stream,
         const softmax_options& options) {
    const auto rungs = detail::softmax_rungs<logarithm, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    const kernels::softmax::softmax_facts facts(validated(operation, a));
    detail::choose_and_launch(operation, rungs, options.algorithm, facts, a, stream);
}

}  // namespace

template <class T>
softmax_problem softmax_problem_of(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y) {
    constexpr bool have_elements = false;
    return validated<T>("softmax_problem_of", {x, y}, have_elements);
}

template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
             const softmax_options& options) {
    run<false, T>("softmax", {x, y}, stream, options);
}

template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
                 const softmax_options& options) {
    run<true, T>("log_softmax", {x, y}, stream, options);
}

#define INSTANTIATE(T)                                                                    \
    template softmax_problem softmax_problem_of<T>(matrix_view<const T>, matrix_view<T>); \
    template void softmax<T>(matrix_view<const T>, matrix_view<T>, cuda::stream_ref,      \
                             const softmax_options&);                                     \
    template void log_softmax<T>(matrix_view<const T>, matrix_view<T>, cuda::stream_ref,  \
                                 const softmax_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
