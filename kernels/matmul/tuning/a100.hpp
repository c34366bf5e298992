#pragma once

#include "kernels/matmul/tuning/h200.hpp"

namespace heddle::kernels::matmul {

/// An estimate from the datasheets, of an A100 beside an H200: a multiprocessor has half the FFMAs a clock and 0.71 of the
/// clock, and 0.39 of the TF32 operations a second, of which tf32x3 reaches more than on an H200.
inline constexpr tuning a100 = [] {
    constexpr double ffma = 2.8, tensor_cores = 1.6;
    tuning card = h200;
    card.added_up_bytes_per_us = 1.3e6;
    const auto slow_down = [](block_cost& cost) {
        cost.k_us *= ffma;
        cost.alone_k_us *= ffma;
    };
    for (block_cost& cost : card.pipelined) slow_down(cost);
    slow_down(card.warp_tiled);
    for (block_cost& cost : card.thin) slow_down(cost);
    card.tf32x3_step_us *= tensor_cores;
    card.tf32x3_step_by_element_us *= tensor_cores;
    card.tf32x3_alone_us *= tensor_cores;
    card.skinny_float_line_us *= 2;
    card.skinny_float_row_us *= ffma;
    return card;
}();

}  // namespace heddle::kernels::matmul
