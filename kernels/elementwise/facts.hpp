#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::elementwise {

using detail::elementwise_facts;

/// Transposes the operands where needed, so that the output's rows lie side by side. Operands without gaps become one long
/// row. The output is the last of `all`; matrix_of() makes a view or a layout of each.
template <class All, class MatrixOf = std::identity>
void lay_in_rows(All& all, MatrixOf matrix_of = {}) {
    const auto output = std::invoke(matrix_of, all.back());
    const bool is_turned = !is_row_major(output) || output.cols == 1;
    bool have_gaps = false;
    for (auto& each : all) {
        auto& m = std::invoke(matrix_of, each);
        if (is_turned) m = transposed(m);
        have_gaps = have_gaps || (m.rows > 1 && m.row_stride != m.cols * m.col_stride);
    }
    if (have_gaps) return;
    for (auto& each : all) {
        auto& m = std::invoke(matrix_of, each);
        m.col_stride = m.cols > 1 ? m.col_stride : 1;
        m.cols *= m.rows;
        m.rows = m.row_stride = 1;
    }
}

/// How many elements past a packet boundary every row begins; -1 where rows differ or elements have gaps between them.
constexpr int lead_of(const matrix_layout& m) {
    if (m.col_stride != 1 || (m.rows > 1 && !are_packets(m.row_stride, m.element_bytes))) return -1;
    return elements_after_packet(m);
}

inline elementwise_facts facts_of(elementwise_problem p) {
    const auto inputs = std::span(p.operands).first(static_cast<std::size_t>(p.inputs));
    const auto all = std::span(p.operands).first(inputs.size() + 1);
    lay_in_rows(all);
    const matrix_layout& output = all.back();
    const int lead = lead_of(output);
    // Most packets of short rows would be cut.
    constexpr std::int64_t least_packets = 16;
    const bool is_short = output.cols * output.element_bytes < least_packets * packet_bytes;
    // One element fills whole packets only for functions of several inputs.
    const auto fills_packets = [&](const matrix_layout& m) { return p.inputs > 1 && m.col_stride == 0; };
    // Larger elements are as fast one by one.
    constexpr std::int64_t most_shifted_bytes = 2;
    const auto shifts_packets = [=](const matrix_layout& m) {
        return m.element_bytes <= most_shifted_bytes && !is_short && m.col_stride == 1 && lead_of(m) != lead;
    };
    const bool in_packets =
        lead >= 0 && (lead == 0 || !is_short) && std::ranges::all_of(all, [=](const matrix_layout& m) {
            return fills_packets(m) || shifts_packets(m) || lead_of(m) == lead;
        });
    // A row that stands for all rows counts as lying along the output's.
    const auto is_crossed = [](const matrix_layout& m) { return !is_row_major(m) && m.row_stride > 0; };
    const auto is_broadcast = [](const matrix_layout& m) { return m.row_stride == 0 || m.col_stride == 0; };
    return {.rows = output.rows,
            .cols = output.cols,
            .inputs = p.inputs,
            .element_bytes = static_cast<std::size_t>(output.element_bytes),
            .in_packets = in_packets,
            .lead = in_packets ? lead : 0,
            .is_crossed = std::ranges::any_of(all, is_crossed),
            .broadcasts = static_cast<int>(std::ranges::count_if(all, is_broadcast)),
            .fills_packets = in_packets && std::ranges::any_of(all, fills_packets),
            .shifts_packets = in_packets && std::ranges::any_of(all, shifts_packets)};
}

}  // namespace heddle::kernels::elementwise
