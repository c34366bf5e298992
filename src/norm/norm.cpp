#include "src/norm/rungs.hpp"
#include "src/norm/validate.hpp"
#include "src/packets.hpp"
#include "src/rows.hpp"
#include <heddle/norm.hpp>
#include <heddle/stream.hpp>

namespace heddle {
namespace {

template <class T>
norm_problem describe(const kernels::norm::arguments<T>& a) {
    const auto is_side_by_side = [](const auto& v) { return v.size == 0 || v.stride == 1; };
    const auto is_aligned = [](const auto& v) { return detail::is_aligned(v.data, detail::packet_bytes); };
    return {.rows = a.y.rows,
            .cols = a.y.cols,
            .unit_stride = a.y.cols == 1 || (a.x.col_stride == 1 && a.y.col_stride == 1 &&
                                             is_side_by_side(a.gamma) && is_side_by_side(a.beta)),
            .element_bytes = sizeof(T),
            .in_packets = detail::has_rows_of_packets(a.x) && detail::has_rows_of_packets(a.y) &&
                          is_aligned(a.gamma) && is_aligned(a.beta),
            .x_in_columns = detail::is_in_columns(a.x),
            .y_in_columns = detail::is_in_columns(a.y)};
}

template <bool centred, class T>
void run(const char* operation, const kernels::norm::arguments<T>& a, cuda::stream_ref stream,
         norm_algorithm algorithm) {
    const auto rungs = detail::norm_rungs<centred, T>();
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    detail::validate_norm(operation, a.x, a.gamma, a.beta, a.y, a.epsilon);
    if (a.y.rows == 0 || a.y.cols == 0) return;
    const detail::stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, algorithm, describe(a), device.traits());
    rung->launch(plan, a, stream.get());
}

}  // namespace

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

template void layer_norm<float>(matrix_view<const float>, vector_view<const float>, vector_view<const float>,
                                matrix_view<float>, cuda::stream_ref, const norm_options&);
template void rms_norm<float>(matrix_view<const float>, vector_view<const float>, matrix_view<float>,
                              cuda::stream_ref, const norm_options&);
template void layer_norm<half>(matrix_view<const half>, vector_view<const half>, vector_view<const half>,
                               matrix_view<half>, cuda::stream_ref, const norm_options&);
template void rms_norm<half>(matrix_view<const half>, vector_view<const half>, matrix_view<half>,
                             cuda::stream_ref, const norm_options&);
template void layer_norm<bfloat16>(matrix_view<const bfloat16>, vector_view<const bfloat16>,
                                   vector_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                   const norm_options&);
template void rms_norm<bfloat16>(matrix_view<const bfloat16>, vector_view<const bfloat16>,
                                 matrix_view<bfloat16>, cuda::stream_ref, const norm_options&);

}  // namespace heddle
