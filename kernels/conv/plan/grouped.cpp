#include "kernels/conv/plan/grouped.hpp"

#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"

#include <cstdint>

namespace heddle::kernels::conv {
namespace {

/// The number of products that one thread of a block does one after another; for tensor cores, that the block does.
std::int64_t steps_of(const grouped_layout& l, grouped_products products) {
    constexpr std::int64_t pixels = 8, outputs = 4, chunk = 8;
    if (products == grouped_products::mma) return l.steps * divide_up(l.outputs, chunk) * l.groups;
    const std::int64_t threads = grouped_pixels / pixels * l.groups * divide_up(l.outputs, outputs);
    return l.depth * divide_up(threads, grouped_threads);
}

template <grouped_products products>
plan planned(const conv_problem& p, const device_traits& device) {
    const grouped_layout l = grouped_layout_of(p, products);
    const std::int64_t slab_bytes = std::int64_t{l.groups} * l.channels * p.input.element_bytes,
                       bytes_per_pixel = p.input.channels * p.input.element_bytes;
    plan result{};
    result.blocks = {l.blocks(p.output.count)};
    result.threads = {grouped_threads};
    result.grouped = l;
    result.in_packets =
        slab_bytes % 16 == 0 && bytes_per_pixel % 16 == 0 && lies_in(p.input, 16) && lies_in(p.filters, 8);
    result.stores_packets = has_packets(p.output, output_packet) && has_packets(p.residual, output_packet) &&
                            l.groups * l.outputs % output_packet == 0;
    static constexpr cost_place cost = products == grouped_products::mma ? "grouped mma" : "grouped fma";
    const std::int64_t width = result.in_packets ? 16 / p.input.element_bytes : 1,
                       patch = std::int64_t{l.patch_height} * l.patch_width * l.groups * l.channels,
                       filters = std::int64_t{l.groups} * l.outputs * l.depth;
    result.us = predicted_us(cost, device,
                             {.bytes = tensor_bytes(p),
                              .rounds = rounds_of(l.blocks(p.output.count), device),
                              .steps = static_cast<double>(steps_of(l, products)),
                              .staged = static_cast<double>(patch / width + filters)});
    return result;
}

}  // namespace

plan plan_grouped_fma(const conv_problem& p, const device_traits& device) {
    return planned<grouped_products::fma>(p, device);
}
plan plan_grouped_mma(const conv_problem& p, const device_traits& device) {
    return planned<grouped_products::mma>(p, device);
}

}  // namespace heddle::kernels::conv
