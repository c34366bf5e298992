#include "kernels/conv/plan/im2col.hpp"

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"

#include <cstdint>

namespace heddle::kernels::conv {

plan plan_im2col(const conv_problem& p, const device_traits&) {
    plan result{};
    result.precision = p.precision;
    result.copies = !windows_are_rows(p);
    result.in_packets = lies_in(p, im2col_unit);
    result.window_stride = im2col_stride(p);
    result.has_sums = !products_are_outputs(p);
    if (result.copies) result.scratch = output_pixels(p) * result.window_stride * p.input.element_bytes;
    result.sums = result.scratch;
    if (result.has_sums) result.scratch += output_pixels(p) * p.output.channels * std::int64_t{sizeof(float)};
    return result;
}

}  // namespace heddle::kernels::conv
