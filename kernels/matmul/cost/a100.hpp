#pragma once

#include "kernels/matmul/cost/h200.hpp"

namespace heddle::kernels::matmul {

/// The time of a step on an A100 relative to an H200, by the datasheets. A multiprocessor has half the FFMAs a clock, at
/// 0.71 of the clock. It has 0.39 of the TF32 operations a second, of which tf32x3 reaches a larger share.
constexpr double steps_on_a100(std::string_view row) {
    constexpr double ffma = 2.8, tensor_cores = 1.6;
    if (row == "tf32x3") return tensor_cores;
    const bool is_by_ffma = row.starts_with("pipelined") || row.starts_with("thin") ||
                            row.starts_with("stream") || row.starts_with("packed") || row == "warp_tiled" ||
                            row == "skinny 16x32";
    return is_by_ffma ? ffma : 1;
}

/// Estimated from the datasheets of an A100 and an H200; nothing is measured.
inline constexpr costs a100 = [] {
    constexpr double memory = 0.42;  // by the datasheets
    costs card = h200;
    card.memory_bytes_per_us *= memory;
    card.copied_bytes_per_us *= memory;
    for (row_cost& row : card.rows) {
        row.step_us *= steps_on_a100(row.row);
        row.alone_us *= steps_on_a100(row.row);
    }
    return card;
}();

}  // namespace heddle::kernels::matmul
