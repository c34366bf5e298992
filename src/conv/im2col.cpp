#include "src/conv/parts.hpp"
#include "src/conv/rungs.hpp"
#include "src/matmul/call.hpp"
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace heddle::detail {
namespace {

/// The epilogue of a range of channels.
template <class Out>
matmul_epilogue<Out> for_channels(const kernels::conv::epilogue<Out>& e, std::int64_t first,
                                  std::int64_t count) {
    matmul_epilogue<Out> result{.activation = e.activation};
    if (e.bias != nullptr) result.row_bias = {e.bias + first * e.bias_stride, count, e.bias_stride};
    if (e.residual.data != nullptr) result.residual = channels_of(e.residual, first, count);
    return result;
}

/// The products of a range of images: for each group C = A B^T with the epilogue, or sums. All groups share a plan.
template <class In, class Sum, class Out>
class group_products {
  public:
    group_products(const kernels::conv::plan& plan, const conv_arguments<In, Out>& a,
                   const device_traits& device, bool)
        : plan_(plan), options_{.scratch = scratch::none, .precision = plan.precision} {
        if (!plan.has_sums) {
            options_.alpha = a.alpha;
            options_.beta = a.beta;
        }
        matmul_problem problem = problem_of(product_of(a, 0), options_);
        if (a.geometry.groups > 1) {
            const matmul_problem next = problem_of(product_of(a, 1), options_);
            const auto lower = [](matrix_layout& m, const matrix_layout& other) {
                if (other.alignment() < m.alignment()) m.offset = other.offset;
            };
            lower(problem.a, next.a);
            lower(problem.b, next.b);
            lower(problem.c, next.c);
        }
        planned_ = plan_matmul<In, Sum>(problem, device, options_);
    }

    void enqueue(const conv_arguments<In, Out>& a, cudaStream_t stream) const {
        for (std::int64_t group = 0; group < a.geometry.groups; ++group) {
            if (plan_.lays_out) kernels::conv::launch_lay_out(plan_, a, group, windows_of(a), stream);
            launch(planned_, product_of(a, group), stream);
        }
        if (plan_.has_sums) kernels::conv::launch_store_sums(a, sums_of(a), stream);
    }

  private:
    In* windows_of(const conv_arguments<In, Out>& a) const { return reinterpret_cast<In*>(a.scratch); }
    float* sums_of(const conv_arguments<In, Out>& a) const {
        return reinterpret_cast<float*>(a.scratch + plan_.sums);
    }

    kernels::matmul::product<In, Sum> product_of(const conv_arguments<In, Out>& a, std::int64_t group) const {
        const std::int64_t pixels = a.output.count * a.output.height * a.output.width,
                           outputs = a.filters.outputs / a.geometry.groups, first = group * outputs,
                           depth = a.filters.height * a.filters.width * a.filters.channels;
        const matrix_view<const In> rows =
            plan_.lays_out ? matrix_view<const In>{windows_of(a), pixels, depth, plan_.window_stride}
                           : channels_of(a.input, group * depth, depth);
        const matrix_view<const In> filters{a.filters.data + first * a.filters.output_stride, outputs, depth,
                                            std::max(a.filters.output_stride, depth)};
        if constexpr (std::is_same_v<Sum, Out>)
            if (!plan_.has_sums)
                return described<In, Sum>(rows, transposed(filters), channels_of(a.output, first, outputs),
                                          for_channels(a.epilogue, first, outputs), {}, options_);
        if constexpr (std::is_same_v<Sum, float>)
            return described<In, Sum>(rows, transposed(filters),
                                      {sums_of(a) + first, pixels, outputs, a.output.channels}, {}, {},
                                      options_);
        throw std::logic_error("im2col: sums are of float");
    }

    const kernels::conv::plan& plan_;
    matmul_options options_;
    planned_matmul<In, Sum> planned_{};
};

}  // namespace

template <class In, class Out>
void launch_im2col(const kernels::conv::plan& plan, const conv_arguments<In, Out>& a, cudaStream_t stream) {
    plan.has_sums ? run_parts<group_products<In, float, Out>>(plan, a, stream)
                  : run_parts<group_products<In, Out, Out>>(plan, a, stream);
}

#define INSTANTIATE(In, Out) \
    template void launch_im2col(const kernels::conv::plan&, const conv_arguments<In, Out>&, cudaStream_t);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::detail
