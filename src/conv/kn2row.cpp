#include "src/conv/parts.hpp"
#include "src/conv/rungs.hpp"
#include "src/conv/validate.hpp"
#include "src/matmul/call.hpp"
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::detail {
namespace {

/// The shares of a range of images: their pixels times the taps of all filters. Then the outputs.
template <class In, class Out>
class share_products {
  public:
    share_products(const kernels::conv::plan& plan, const conv_arguments<In, Out>& a,
                   const device_traits& device, bool serves_other_images)
        : plan_(plan), options_{.scratch = scratch::none, .precision = plan.precision} {
        matmul_problem problem = problem_of(product_of(a), options_);
        if (serves_other_images) {  // which may begin at a lower alignment
            conv_arguments<In, Out> next = a;
            next.input.data += a.input.count * a.input.image_stride;
            const matrix_layout other = problem_of(product_of(next), options_).a;
            if (other.alignment() < problem.a.alignment()) problem.a.offset = other.offset;
        }
        planned_ = plan_matmul<In, float>(problem, device, options_);
    }

    void enqueue(const conv_arguments<In, Out>& a, cudaStream_t stream) const {
        const conv_padding& around = a.geometry.padding;
        float* const of_padding = shares_of(a) + plan_.images * a.input.height * a.input.width * pitch();
        const matrix_view<const In> taps = taps_of(a);
        if (around.top > 0 || around.bottom > 0 || around.left > 0 || around.right > 0)
            kernels::conv::launch_shares_of_padding(taps.data, taps.row_stride, taps.rows, taps.cols,
                                                    of_padding, stream);
        launch(planned_, product_of(a), stream);
        kernels::conv::launch_add_shares(a, shares_of(a), pitch(), of_padding, stream);
    }

  private:
    std::int64_t pitch() const { return plan_.window_stride; }
    float* shares_of(const conv_arguments<In, Out>& a) const {
        return reinterpret_cast<float*>(a.scratch + plan_.sums);
    }
    /// Where one operand is a copy, zeros follow its channels, and the other one has fewer.
    static std::int64_t depth_of(const conv_arguments<In, Out>& a) {
        return std::min(a.input.channels, a.filters.channels);
    }
    static matrix_view<const In> taps_of(const conv_arguments<In, Out>& a) {
        return channels_of(as_tensor(a.filters), 0, depth_of(a));
    }
    kernels::matmul::product<In, float> product_of(const conv_arguments<In, Out>& a) const {
        const matrix_view<const In> pixels = channels_of(a.input, 0, depth_of(a)), taps = taps_of(a);
        return described<In, float>(pixels, transposed(taps), {shares_of(a), pixels.rows, taps.rows, pitch()},
                                    {}, {}, options_);
    }

    const kernels::conv::plan& plan_;
    matmul_options options_;
    planned_matmul<In, float> planned_{};
};

}  // namespace

template <class In, class Out>
void launch_kn2row(const kernels::conv::plan& plan, const conv_arguments<In, Out>& a, cudaStream_t stream) {
    run_parts<share_products<In, Out>>(plan, a, stream);
}

#define INSTANTIATE(Out, In) \
    template void launch_kn2row(const kernels::conv::plan&, const conv_arguments<In, Out>&, cudaStream_t);
INSTANTIATE(float, float)
INSTANTIATE(half, half)
INSTANTIATE(float, half)
INSTANTIATE(bfloat16, bfloat16)
INSTANTIATE(float, bfloat16)
#undef INSTANTIATE

}  // namespace heddle::detail
