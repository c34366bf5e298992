#include "kernels/conv/plan/grouped.hpp"

#include "kernels/conv/plan/plan.hpp"

#include <cstdint>

namespace heddle::kernels::conv {
namespace {

template <grouped_products products>
plan planned(const conv_problem& p) {
    const grouped_layout l = grouped_layout_of(p, products);
    const std::int64_t of_slab = std::int64_t{l.groups} * l.channels * p.input.element_bytes,
                       of_pixel = p.input.channels * p.input.element_bytes;
    plan result{};
    result.blocks = {l.blocks(p.output.count)};
    result.threads = {grouped_threads};
    result.grouped = l;
    result.in_packets =
        of_slab % 16 == 0 && of_pixel % 16 == 0 && lies_in(p.input, 16) && lies_in(p.filters, 8);
    result.stores_packets = has_packets(p.output, output_packet) && has_packets(p.residual, output_packet) &&
                            l.groups * l.outputs % output_packet == 0;
    return result;
}

}  // namespace

plan plan_grouped_fma(const conv_problem& p, const device_traits&) {
    return planned<grouped_products::fma>(p);
}
plan plan_grouped_mma(const conv_problem& p, const device_traits&) {
    return planned<grouped_products::mma>(p);
}

}  // namespace heddle::kernels::conv
