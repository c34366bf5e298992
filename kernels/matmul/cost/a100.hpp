#pragma once

#include "kernels/matmul/cost/h200.hpp"

namespace heddle::kernels::matmul {

/// How many times as long as on an H200 a step takes on an A100, by the datasheets: a multiprocessor has half the FFMAs a
/// clock and 0.71 of the clock, and 0.39 of the TF32 operations a second, of which tf32x3 reaches more.
constexpr double steps_on_a100(std::string_view row) {
    constexpr double ffma = 2.8, tensor_cores = 1.6;
    if (row == "tf32x3") return tensor_cores;
    const bool is_by_ffma = row.starts_with("pipelined") || row.starts_with("thin") || row == "warp_tiled" ||
                            row == "skinny 16x32";
    return is_by_ffma ? ffma : 1;
}

/// An estimate from the datasheets of an A100 beside an H200; nothing is measured.
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
