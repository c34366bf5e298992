#include "src/norm/gradient_rungs.hpp"
#include "src/norm/validate_gradient.hpp"
#include "src/packets.hpp"
#include "src/workspace.hpp"
#include <heddle/copy.hpp>
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>

namespace heddle {
namespace {

template <class T>
norm_gradient_problem describe(const kernels::norm::gradient_arguments<T>& a) {
    const bool wants_dx = a.dx.rows > 0;
    return {.rows = a.x.rows,
            .cols = a.x.cols,
            .unit_stride = a.x.cols == 1 || (a.x.col_stride == 1 && a.dy.col_stride == 1 &&
                                             (!wants_dx || a.dx.col_stride == 1) &&
                                             (a.gamma.size == 0 || a.gamma.stride == 1)),
            .element_bytes = sizeof(T),
            .in_packets = detail::has_rows_of_packets(a.x) && detail::has_rows_of_packets(a.dy) &&
                          (!wants_dx || detail::has_rows_of_packets(a.dx)) &&
                          detail::is_aligned(a.gamma.data, detail::packet_bytes),
            .has_column_sums = a.dgamma.size > 0 || a.dbeta.size > 0};
}

template <bool centred, class T>
void run(const char* operation, kernels::norm::gradient_arguments<T> a, cuda::stream_ref stream,
         const norm_gradient_options& options) {
    const auto rungs = detail::norm_gradient_rungs<centred, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    detail::validate_norm_gradient(operation, a.x, a.gamma, a.dy, a.dx, a.dgamma, a.dbeta, a.epsilon);
    detail::validate_workspace(operation, options.workspace,
                               {{"x", detail::footprint_of(a.x)},
                                {"gamma", detail::footprint_of(a.gamma)},
                                {"dy", detail::footprint_of(a.dy)},
                                {"dx", detail::footprint_of(a.dx)},
                                {"dgamma", detail::footprint_of(a.dgamma)},
                                {"dbeta", detail::footprint_of(a.dbeta)}});
    if (a.x.cols == 0) return;
    if (a.dx.cols == 0) a.dx.rows = 0;
    const norm_gradient_problem problem = describe(a);
    if (!problem.has_column_sums && a.dx.rows == 0) return;
    const detail::stream_device device(stream);
    if (a.x.rows == 0) {
        if (a.dgamma.size > 0) fill_zero(a.dgamma, stream);
        if (a.dbeta.size > 0) fill_zero(a.dbeta, stream);
        return;
    }
    const auto [chosen, workspace] =
        detail::plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
            norm_gradient_problem with = problem;
            with.has_scratch = has_scratch;
            return rungs.choose(operation, options.algorithm, with, device.traits());
        });
    a.scratch = workspace.scratch();
    chosen.rung->launch(chosen.plan, a, stream.get());
}

}  // namespace

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

template void layer_norm_gradient<float>(matrix_view<const float>, vector_view<const float>,
                                         matrix_view<const float>, matrix_view<float>, vector_view<float>,
                                         vector_view<float>, cuda::stream_ref, const norm_gradient_options&);
template void rms_norm_gradient<float>(matrix_view<const float>, vector_view<const float>,
                                       matrix_view<const float>, matrix_view<float>, vector_view<float>,
                                       cuda::stream_ref, const norm_gradient_options&);
template void layer_norm_gradient<half>(matrix_view<const half>, vector_view<const half>,
                                        matrix_view<const half>, matrix_view<half>, vector_view<half>,
                                        vector_view<half>, cuda::stream_ref, const norm_gradient_options&);
template void rms_norm_gradient<half>(matrix_view<const half>, vector_view<const half>,
                                      matrix_view<const half>, matrix_view<half>, vector_view<half>,
                                      cuda::stream_ref, const norm_gradient_options&);
template void layer_norm_gradient<bfloat16>(matrix_view<const bfloat16>, vector_view<const bfloat16>,
                                            matrix_view<const bfloat16>, matrix_view<bfloat16>,
                                            vector_view<bfloat16>, vector_view<bfloat16>, cuda::stream_ref,
                                            const norm_gradient_options&);
template void rms_norm_gradient<bfloat16>(matrix_view<const bfloat16>, vector_view<const bfloat16>,
                                          matrix_view<const bfloat16>, matrix_view<bfloat16>,
                                          vector_view<bfloat16>, cuda::stream_ref,
                                          const norm_gradient_options&);

}  // namespace heddle
