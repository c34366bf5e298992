#include "src/elementwise/validate.hpp"
#include "src/packets.hpp"
#include "src/softmax/gradient_rungs.hpp"
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>

#include <span>

namespace heddle {
namespace {

template <class T>
softmax_gradient_problem describe(const kernels::softmax::gradient_arguments<T>& a) {
    return {.rows = a.dx.rows,
            .cols = a.dx.cols,
            .unit_stride =
                a.dx.cols == 1 || (a.y.col_stride == 1 && a.dy.col_stride == 1 && a.dx.col_stride == 1),
            .element_bytes = sizeof(T),
            .in_packets = detail::has_rows_of_packets(a.y) && detail::has_rows_of_packets(a.dy) &&
                          detail::has_rows_of_packets(a.dx)};
}

template <bool logarithm, class T>
void run(const char* operation, const kernels::softmax::gradient_arguments<T>& a, cuda::stream_ref stream,
         const softmax_gradient_options& options) {
    const auto rungs = detail::softmax_gradient_rungs<logarithm, T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    const detail::operand operands[] = {detail::operand_of("y", a.y), detail::operand_of("dy", a.dy),
                                        detail::operand_of("dx", a.dx)};
    detail::validate_elementwise(operation, operands, sizeof(T));
    if (a.dx.rows == 0 || a.dx.cols == 0) return;
    const detail::stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, options.algorithm, describe(a), device.traits());
    rung->launch(plan, a, stream.get());
}

}  // namespace

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

template void softmax_gradient<float>(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                                      cuda::stream_ref, const softmax_gradient_options&);
template void log_softmax_gradient<float>(matrix_view<const float>, matrix_view<const float>,
                                          matrix_view<float>, cuda::stream_ref,
                                          const softmax_gradient_options&);
template void softmax_gradient<half>(matrix_view<const half>, matrix_view<const half>, matrix_view<half>,
                                     cuda::stream_ref, const softmax_gradient_options&);
template void log_softmax_gradient<half>(matrix_view<const half>, matrix_view<const half>, matrix_view<half>,
                                         cuda::stream_ref, const softmax_gradient_options&);
template void softmax_gradient<bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                         matrix_view<bfloat16>, cuda::stream_ref,
                                         const softmax_gradient_options&);
template void log_softmax_gradient<bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                             matrix_view<bfloat16>, cuda::stream_ref,
                                             const softmax_gradient_options&);

}  // namespace heddle
