#include "src/loss/rungs.hpp"
#include "src/loss/validate.hpp"
#include <heddle/loss.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

using kernels::loss::cross_entropy_arguments;
using kernels::loss::label_hits_plan;
using kernels::loss::mean_squared_error_arguments;
using kernels::loss::plan_label_hits;

/// Stands for no label. Labels have 32 bits, so none has this value.
constexpr std::int64_t no_label = std::numeric_limits<std::int64_t>::min();

/// The problem of a call. A gradient that is not wanted has no layout, whatever its strides.
template <class T>
loss_problem described(const matrix_layout& x, const matrix_layout& target, const matrix_view<T>& gradient) {
    return {x, target, detail::is_given(gradient) ? layout_of(gradient) : matrix_layout{}};
}
template <class T>
loss_problem described(const cross_entropy_arguments<T>& a) {
    return described(layout_of(a.logits), {}, a.gradient);
}
template <class T>
loss_problem described(const mean_squared_error_arguments<T>& a) {
    return described(layout_of(a.prediction), layout_of(a.target), a.gradient);
}

template <class Arguments>
void run(const char* operation, const Arguments& a, cuda::stream_ref stream, loss_algorithm algorithm) {
    if (a.loss.size == 0 && !detail::is_given(a.gradient)) return;
    const kernels::loss::loss_facts facts(described(a));
    detail::choose_and_launch(operation, detail::loss_rungs<Arguments>(), algorithm, facts, a, stream);
}

template <class Arguments>
void require_known(const char* operation, loss_algorithm algorithm) {
    detail::loss_rungs<Arguments>().require_known(operation, {"options", "algorithm"}, algorithm);
}

}  // namespace

template <class T>
loss_problem loss_problem_of(matrix_view<const std::type_identity_t<T>> logits, matrix_view<T> gradient) {
    constexpr bool have_elements = false;
    detail::validate_logits<T>("loss_problem_of", logits, gradient, have_elements);
    return described(layout_of(logits), {}, gradient);
}

template <class T>
loss_problem loss_problem_of(matrix_view<const std::type_identity_t<T>> prediction,
                             matrix_view<const std::type_identity_t<T>> target, matrix_view<T> gradient) {
    constexpr bool have_elements = false;
    detail::validate_prediction<T>("loss_problem_of", prediction, target, gradient, have_elements);
    return described(layout_of(prediction), layout_of(target), gradient);
}

template <class T>
void cross_entropy(matrix_view<const std::type_identity_t<T>> logits, vector_view<const std::int32_t> labels,
                   vector_view<float> loss, matrix_view<T> gradient, cuda::stream_ref stream,
                   const cross_entropy_options& options) {
    using arguments = kernels::loss::cross_entropy_arguments<T>;
    require_known<arguments>("cross_entropy", options.algorithm);
    detail::validate_cross_entropy("cross_entropy", logits, labels, loss, gradient, options);
    const std::int64_t ignored = options.ignore_label ? *options.ignore_label : no_label;
    run("cross_entropy",
        arguments{logits, labels, loss, gradient, options.scale, options.label_smoothing, ignored}, stream,
        options.algorithm);
}

template <class T>
void mean_squared_error(matrix_view<const std::type_identity_t<T>> prediction,
                        matrix_view<const std::type_identity_t<T>> target, vector_view<float> loss,
                        matrix_view<T> gradient, cuda::stream_ref stream,
                        const mean_squared_error_options& options) {
    using arguments = kernels::loss::mean_squared_error_arguments<T>;
    require_known<arguments>("mean_squared_error", options.algorithm);
    detail::validate_mean_squared_error("mean_squared_error", prediction, target, loss, gradient, options);
    run("mean_squared_error", arguments{prediction, target, loss, gradient, options.scale}, stream,
        options.algorithm);
}

template <class T>
void label_hits(matrix_view<const T> scores, vector_view<const std::int32_t> labels,
                vector_view<std::int32_t> hits, cuda::stream_ref stream) {
    detail::validate_label_hits("label_hits", scores, labels, hits);
    if (scores.rows == 0 || scores.cols == 0) return;
    const detail::stream_device device(stream);
    const kernels::loss::label_hits_arguments<T> arguments{scores, labels, hits};
    const label_hits_plan plan = plan_label_hits(kernels::loss::loss_facts({layout_of(scores)}));
    switch (plan.kind) {
        case label_hits_plan::kernel::hits:
            return launch_label_hits(plan, arguments, stream.get());
        case label_hits_plan::kernel::hits_of_warps:
            return launch_label_hits_of_warps(plan, arguments, stream.get());
    }
}

#define INSTANTIATE(T)                                                                                    \
    template loss_problem loss_problem_of<T>(matrix_view<const T>, matrix_view<T>);                       \
    template loss_problem loss_problem_of<T>(matrix_view<const T>, matrix_view<const T>, matrix_view<T>); \
    template void cross_entropy<T>(matrix_view<const T>, vector_view<const std::int32_t>,                 \
                                   vector_view<float>, matrix_view<T>, cuda::stream_ref,                  \
                                   const cross_entropy_options&);                                         \
    template void mean_squared_error<T>(matrix_view<const T>, matrix_view<const T>, vector_view<float>,   \
                                        matrix_view<T>, cuda::stream_ref,                                 \
                                        const mean_squared_error_options&);                               \
    template void label_hits<T>(matrix_view<const T>, vector_view<const std::int32_t>,                    \
                                vector_view<std::int32_t>, cuda::stream_ref);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
