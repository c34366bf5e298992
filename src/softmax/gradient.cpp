#include "src/elementwise/validate.hpp"
#include "src/softmax/gradient_rungs.hpp"
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <span>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The problem of a call, after all checks; without elements, after those of shapes and strides alone.
template <class T>
softmax_gradient_problem validated(const char* operation, const kernels::softmax::gradient_arguments<T>& a,
                                   bool have_elements = true) {
    using detail::operand_of;
    const detail::operand operands[] = {operand_of("y", a.y), operand_of("dy", a.dy), operand_of("dx", a.dx)};
    detail::validate_elementwise(operation, operands, sizeof(T), detail::zero_strides::refused,
                                 have_elements);
    return {layout_of(a.y), layout_of(a.dy), layout_of(a.dx)};
}

template <bool logarithm, class T>
void run(const char* operation, const kernels::softmax::gradient_arguments<T>& a, cuda::stream_ref stream,
         const softmax_gradient_options& options) {
    const auto rungs = detail::softmax_gradient_rungs<logarithm, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    const kernels::softmax::gradient_facts facts(validated(operation, a));
    detail::choose_and_launch(operation, rungs, options.algorithm, facts, a, stream);
}

}  // namespace

template <class T>
softmax_gradient_problem softmax_gradient_problem_of(matrix_view<const std::type_identity_t<T>> y,
                                                     matrix_view<const std::type_identity_t<T>> dy,
                                                     matrix_view<T> dx) {
    constexpr bool have_elements = false;
    return validated<T>("softmax_gradient_problem_of", {y, dy, dx}, have_elements);
}

template <class T>
void softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                      matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx,
                      cuda::stream_ref stream, const softmax_gradient_options& options) {
    run<false, T>("softmax_gradient", {y, dy, dx}, stream, options);
}

template <class T>
void log_softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                          matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx,
                          cuda::stream_ref stream, const softmax_gradient_options& options) {
    run<true, T>("log_softmax_gradient", {y, dy, dx}, stream, options);
}

#define INSTANTIATE(T)                                                                                      \
    template softmax_gradient_problem softmax_gradient_problem_of<T>(matrix_view<const T>,                  \
                                                                     matrix_view<const T>, matrix_view<T>); \
    template void softmax_gradient<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<T>,           \
                                      cuda::stream_ref, const softmax_gradient_options&);                   \
    template void log_softmax_gradient<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<T>,       \
                                          cuda::stream_ref, const softmax_gradient_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
