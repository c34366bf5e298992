#include "src/conv/im2col.hpp"

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/windows.hpp"
#include "src/matmul/call.hpp"
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::detail {
namespace {

/// Neighbouring channels of all pixels of a tensor that lies as a matrix does. Of one pixel no stride counts.
template <class T>
matrix_view<T> channels_of(const tensor_view<T>& t, std::int64_t first, std::int64_t count) {
    const std::int64_t stride = kernels::conv::pixel_stride(kernels::conv::layout_of(t));
    return {t.data + first, t.count * t.height * t.width, count, std::max(stride, count)};
}

/// The part of an epilogue that is for these channels.
template <class Out>
matmul_epilogue<Out> for_channels(const kernels::conv::epilogue<Out>& e, std::int64_t first,
                                  std::int64_t count) {
    matmul_epilogue<Out> result{.activation = e.activation};
    if (e.bias != nullptr) result.row_bias = {e.bias + first * e.bias_stride, count, e.bias_stride};
    if (e.residual.data != nullptr) result.residual = channels_of(e.residual, first, count);
    return result;
}

/// C = A B^T and the epilogue. The convolution was checked as a whole.
template <class In, class Out>
void multiply(matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
              const matmul_epilogue<Out>& epilogue, const matmul_options& options, cudaStream_t stream) {
    run(described<In, Out>(a, transposed(b), c, epilogue, {}, options), stream, options);
}

}  // namespace

template <class In, class Out>
void launch_im2col(const kernels::conv::plan& plan, const kernels::conv::arguments<In, Out>& a,
                   cudaStream_t stream) {
    const std::int64_t pixels = a.output.count * a.output.height * a.output.width,
                       outputs = a.filters.outputs / a.geometry.groups,
                       depth = a.filters.height * a.filters.width * a.filters.channels;
    auto* const windows = reinterpret_cast<In*>(a.scratch);
    auto* const sums = reinterpret_cast<float*>(a.scratch + plan.sums);
    matmul_options options{.scratch = scratch::none, .precision = plan.precision};
    if (!plan.has_sums) {
        options.alpha = a.alpha;
        options.beta = a.beta;
    }
    for (std::int64_t group = 0; group < a.geometry.groups; ++group) {
        if (plan.copies) kernels::conv::launch_lay_out(plan, a, group, windows, stream);
        const matrix_view<const In> rows =
            plan.copies ? matrix_view<const In>{windows, pixels, depth, plan.window_stride}
                        : channels_of(a.input, group * depth, depth);
        const std::int64_t first = group * outputs;
        const matrix_view<const In> filters{a.filters.data + first * a.filters.output_stride, outputs, depth,
                                            std::max(a.filters.output_stride, depth)};
        if (plan.has_sums)
            multiply<In, float>(rows, filters, {sums + first, pixels, outputs, a.output.channels}, {},
                                options, stream);
        else
            multiply<In, Out>(rows, filters, channels_of(a.output, first, outputs),
                              for_channels(a.epilogue, first, outputs), options, stream);
    }
    if (plan.has_sums) kernels::conv::launch_store_sums(a, sums, stream);
}

template void launch_im2col(const kernels::conv::plan&, const kernels::conv::arguments<float, float>&,
                            cudaStream_t);
template void launch_im2col(const kernels::conv::plan&, const kernels::conv::arguments<half, half>&,
                            cudaStream_t);
template void launch_im2col(const kernels::conv::plan&, const kernels::conv::arguments<half, float>&,
                            cudaStream_t);
template void launch_im2col(const kernels::conv::plan&, const kernels::conv::arguments<bfloat16, bfloat16>&,
                            cudaStream_t);
template void launch_im2col(const kernels::conv::plan&, const kernels::conv::arguments<bfloat16, float>&,
                            cudaStream_t);

}  // namespace heddle::detail
