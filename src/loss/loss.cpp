#include "src/loss/rungs.hpp"
#include "src/loss/validate.hpp"
#include "src/packets.hpp"
#include <heddle/loss.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace heddle {
namespace {

using kernels::loss::cross_entropy_arguments;
using kernels::loss::label_hits_plan;
using kernels::loss::mean_squared_error_arguments;
using kernels::loss::plan_label_hits;

/// No label, as all of these fit 32 bits.
constexpr std::int64_t no_label = std::numeric_limits<std::int64_t>::min();

template <class T>
loss_problem describe(const matrix_view<T>& gradient, std::initializer_list<matrix_view<const T>> inputs) {
    const matrix_view<const T>& x = *inputs.begin();
    const auto all_are = [&](auto condition) {
        return (!detail::is_given(gradient) || condition(matrix_view<const T>(gradient))) &&
               std::ranges::all_of(inputs, condition);
    };
    return {.rows = x.rows,
            .cols = x.cols,
            .unit_stride =
                x.cols == 1 || all_are([](const matrix_view<const T>& m) { return m.col_stride == 1; }),
            .element_bytes = sizeof(T),
            .in_packets = all_are(detail::has_rows_of_packets<const T>)};
}

template <class T>
loss_problem describe(const cross_entropy_arguments<T>& a) {
    return describe<T>(a.gradient, {a.logits});
}
template <class T>
loss_problem describe(const mean_squared_error_arguments<T>& a) {
    return describe<T>(a.gradient, {a.prediction, a.target});
}

template <class Arguments>
void run(const char* operation, const Arguments& a, cuda::stream_ref stream, loss_algorithm algorithm) {
    const auto rungs = detail::loss_rungs<Arguments>();
    const loss_problem problem = describe(a);
    const bool is_nothing_wanted = a.loss.size == 0 && !detail::is_given(a.gradient);
    if (problem.rows == 0 || problem.cols == 0 || is_nothing_wanted) return;
    const detail::stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, algorithm, problem, device.traits());
    rung->launch(plan, a, stream.get());
}

template <class Arguments>
void require_known(const char* operation, loss_algorithm algorithm) {
    detail::loss_rungs<Arguments>().require_known(operation, {"options", "algorithm"}, algorithm);
}

}  // namespace

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
    const label_hits_plan plan = plan_label_hits(describe<T>({}, {scores}));
    switch (plan.kind) {
        case label_hits_plan::kernel::hits:
            return launch_label_hits(plan, arguments, stream.get());
        case label_hits_plan::kernel::hits_of_warps:
            return launch_label_hits_of_warps(plan, arguments, stream.get());
    }
}

template void cross_entropy<float>(matrix_view<const float>, vector_view<const std::int32_t>,
                                   vector_view<float>, matrix_view<float>, cuda::stream_ref,
                                   const cross_entropy_options&);
template void cross_entropy<half>(matrix_view<const half>, vector_view<const std::int32_t>,
                                  vector_view<float>, matrix_view<half>, cuda::stream_ref,
                                  const cross_entropy_options&);
template void cross_entropy<bfloat16>(matrix_view<const bfloat16>, vector_view<const std::int32_t>,
                                      vector_view<float>, matrix_view<bfloat16>, cuda::stream_ref,
                                      const cross_entropy_options&);
template void mean_squared_error<float>(matrix_view<const float>, matrix_view<const float>,
                                        vector_view<float>, matrix_view<float>, cuda::stream_ref,
                                        const mean_squared_error_options&);
template void mean_squared_error<half>(matrix_view<const half>, matrix_view<const half>, vector_view<float>,
                                       matrix_view<half>, cuda::stream_ref,
                                       const mean_squared_error_options&);
template void mean_squared_error<bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                           vector_view<float>, matrix_view<bfloat16>, cuda::stream_ref,
                                           const mean_squared_error_options&);
template void label_hits<float>(matrix_view<const float>, vector_view<const std::int32_t>,
                                vector_view<std::int32_t>, cuda::stream_ref);
template void label_hits<half>(matrix_view<const half>, vector_view<const std::int32_t>,
                               vector_view<std::int32_t>, cuda::stream_ref);
template void label_hits<bfloat16>(matrix_view<const bfloat16>, vector_view<const std::int32_t>,
                                   vector_view<std::int32_t>, cuda::stream_ref);

}  // namespace heddle
