#include "kernels/conv/plan/im2col.hpp"

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

/// The row of costs for the kernel that the product uses.
cost_place cost_for(const conv_problem& p, const device_traits& device) {
    const bool is_hopper = device.compute_capability_major == 9 && device.compute_capability_minor == 0;
    if (p.operands != element_type::f32) {
        if (!is_hopper) return "im2col by mma.sync";
        return products_lie_in_boxes(p) ? cost_place("im2col") : cost_place("im2col by elements");
    }
    if (!is_hopper || p.precision == precision::ieee) return "im2col by FFMA";
    return p.precision == precision::tf32 && lies_in(p, im2col_unit) ? cost_place("im2col of TF32")
                                                                     : cost_place("im2col of float");
}

/// The time of a part: `pixels` windows are copied and then multiplied in tiles, whose steps multiprocessors share evenly.
double part_us(const conv_problem& p, const plan& plan, std::int64_t pixels, const device_traits& device) {
    constexpr std::int64_t side = 64, least_steps = 8;
    const cost_place row = cost_for(p, device);
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
    const std::int64_t tiles = divide_up(pixels, side) * divide_up(outputs, side),
                       steps = steps_along(depth(p) * p.input.element_bytes, mma_row_bytes);
    const double rounds = rounds_of(tiles, device),
                 all = static_cast<double>(tiles) * static_cast<double>(steps);
    return us + predicted_us(row, device,
                             {.bytes = elements * bytes +
                                       static_cast<double>(outputs) * static_cast<double>(depth(p)) * bytes +
                                       pixel_bytes(p.output, static_cast<double>(pixels)) / groups,
                              .rounds = rounds,
                              .steps = std::max(all / device.sm_count,
                                                static_cast<double>(std::min(steps, least_steps))) /
                                       rounds});
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
