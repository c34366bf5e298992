#pragma once

#include "kernels/matmul/cost/h200.hpp"

namespace heddle::kernels::matmul {

constexpr bool is_by_ffma(std::string_view kernel) {
    return kernel.starts_with("pipelined") || kernel.starts_with("thin") || kernel == "warp_tiled";
}

/// An estimate from the datasheets, of an A100 beside an H200: a multiprocessor has half the FFMAs a clock and 0.71 of the
/// clock, and 0.39 of the TF32 operations a second, of which tf32x3 reaches more than on an H200.
inline constexpr costs a100 = [] {
    constexpr double ffma = 2.8, tensor_cores = 1.6;
    costs card = h200;
    card.added_up_bytes_per_us = 1.3e6;
    for (kernel_cost& cost : card.kernels)
        if (is_by_ffma(cost.kernel)) {
            cost.step_us *= ffma;
            cost.alone_us *= ffma;
        }
    card.tf32x3_step_us *= tensor_cores;
    card.tf32x3_step_by_element_us *= tensor_cores;
    card.tf32x3_alone_us *= tensor_cores;
    card.skinny_float_line_us *= 2;
    card.skinny_float_row_us *= ffma;
    return card;
}();

}  // namespace heddle::kernels::matmul
