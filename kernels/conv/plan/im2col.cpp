#include "kernels/conv/plan/im2col.hpp"

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"
#include "kernels/conv/plan/products.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

/// The time of a part: `pixels` windows are copied and then multiplied.
double part_us(const conv_problem& p, const plan& plan, std::int64_t pixels, const device_traits& device) {
    const cost_place row = product_cost(p, device, products_lie_in_boxes(p));
    const std::int64_t outputs = outputs_of_a_group(p);
    const auto elements = static_cast<double>(pixels * plan.window_stride),
               bytes = static_cast<double>(p.input.element_bytes),
               groups = static_cast<double>(p.geometry.groups);
    const double share = static_cast<double>(pixels) / static_cast<double>(output_pixels(p));
    double us = 0;
    if (plan.lays_out && plan.in_packets)
        us += predicted_us(row, device, {.bytes = 2 * elements * bytes + share * input_bytes(p) / groups});
    else if (plan.lays_out)
        us += predicted_us(row, device, {.rounds = 1, .staged = elements});
    return us + product_us(row, device, pixels, outputs, depth(p) * p.input.element_bytes,
                           elements * bytes +
                               static_cast<double>(outputs) * static_cast<double>(depth(p)) * bytes +
                               pixel_bytes(p.output, static_cast<double>(pixels)) / groups);
}

}  // namespace

plan plan_im2col(const conv_problem& p, const device_traits& device) {
    plan result{};
    result.precision = p.precision;
    result.lays_out = !windows_are_rows(p);
    result.in_packets = lies_in(p, im2col_unit);
    result.window_stride = im2col_stride(p);
    result.has_sums = !products_are_outputs(p);
    const std::int64_t image_bytes = im2col_image_bytes(p), pixels = p.output.height * p.output.width;
    result.images = p.output.count;
    if (image_bytes > 0)
        result.images = std::clamp<std::int64_t>(im2col_part_bytes / image_bytes, 1, p.output.count);
    result.scratch = result.images * image_bytes;
    if (result.lays_out) result.sums = result.images * pixels * result.window_stride * p.input.element_bytes;
    result.us = part_us(p, result, result.images * pixels, device) *
                static_cast<double>(p.geometry.groups * divide_up(p.output.count, result.images));
    return result;
}

}  // namespace heddle::kernels::conv
