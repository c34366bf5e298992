#include "kernels/conv/plan/kn2row.hpp"

#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"
#include "kernels/conv/plan/products.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {

plan plan_kn2row(const conv_problem& p, const device_traits& device) {
    plan result{};
    result.precision = p.precision;
    if (HEDDLE_COMPILED_FOR_90 != 0 && device.compute_capability_major == 9 &&
        device.compute_capability_minor == 0)
        add_copies(p, copies_for_shares(p), device, result);
    const conv_problem made = with_copies(p, result.copies);
    const std::int64_t image_bytes = kn2row_image_bytes(made), count = made.input.count,
                       taps = all_taps(made);
    result.images = std::clamp<std::int64_t>(kn2row_part_bytes / image_bytes, 1, count);
    result.window_stride = share_stride(taps);
    result.sums = result.scratch;
    // The shares of a pixel of padding follow those of all pixels.
    result.scratch += result.images * image_bytes + result.window_stride * share_bytes;

    const std::int64_t pixels = result.images * made.input.height * made.input.width,
                       depth = std::min(made.input.channels, made.filters.channels);
    const auto shares = static_cast<double>(result.images) * static_cast<double>(image_bytes);
    const cost_place cost = product_cost(made, device, has_boxes(made.input) && has_boxes(made.filters));
    const double product = product_us(cost, device, pixels, taps, depth * made.input.element_bytes,
                                      pixel_bytes(made.input, static_cast<double>(pixels)) +
                                          pixel_bytes(made.filters, static_cast<double>(taps)) + shares);
    const double outputs = pixel_bytes(p.output, static_cast<double>(output_pixels(p))) /
                           static_cast<double>(count) * static_cast<double>(result.images),
                 additions = predicted_us("kn2row", device,
                                          {.bytes = shares + outputs * (p.residual.count > 0 ? 2 : 1)});
    result.us += (product + additions) * static_cast<double>(divide_up(count, result.images));
    return result;
}

}  // namespace heddle::kernels::conv
