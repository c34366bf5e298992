#include "src/elementwise/validate.hpp"
#include "src/packets.hpp"
#include "src/rows.hpp"
#include "src/softmax/rungs.hpp"
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>

namespace heddle {
namespace {

template <class T>
softmax_problem describe(const kernels::softmax::arguments<T>& a) {
    return {.rows = a.y.rows,
            .cols = a.y.cols,
            .unit_stride = a.y.cols == 1 || (a.x.col_stride == 1 && a.y.col_stride == 1),
            .element_bytes = sizeof(T),
            .in_packets = detail::has_rows_of_packets(a.x) && detail::has_rows_of_packets(a.y),
            .x_in_columns = detail::is_in_columns(a.x),
            .y_in_columns = detail::is_in_columns(a.y)};
}

template <bool logarithm, class T>
void run(const char* operation, const kernels::softmax::arguments<T>& a, cuda::stream_ref stream,
         const softmax_options& options) {
    const auto rungs = detail::softmax_rungs<logarithm, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    detail::validate_unary(operation, a.x, a.y);
    if (a.y.rows == 0 || a.y.cols == 0) return;
    const detail::stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, options.algorithm, describe(a), device.traits());
    rung->launch(plan, a, stream.get());
}

}  // namespace

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

template void softmax<float>(matrix_view<const float>, matrix_view<float>, cuda::stream_ref,
                             const softmax_options&);
template void log_softmax<float>(matrix_view<const float>, matrix_view<float>, cuda::stream_ref,
                                 const softmax_options&);
template void softmax<half>(matrix_view<const half>, matrix_view<half>, cuda::stream_ref,
                            const softmax_options&);
template void log_softmax<half>(matrix_view<const half>, matrix_view<half>, cuda::stream_ref,
                                const softmax_options&);
template void softmax<bfloat16>(matrix_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                const softmax_options&);
template void log_softmax<bfloat16>(matrix_view<const bfloat16>, matrix_view<bfloat16>, cuda::stream_ref,
                                    const softmax_options&);

}  // namespace heddle
