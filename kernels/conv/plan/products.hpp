#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/predict.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

/// Predictions of the time of matmul's products, of which im2col and kn2row consist. Pure.
namespace heddle::kernels::conv {

/// The row of costs for the kernel that a product uses. `lies_in_boxes`: the tensor memory accelerator can read both
/// operands.
inline cost_place product_cost(const conv_problem& p, const device_traits& device, bool lies_in_boxes) {
    constexpr std::int64_t packet = 16;
    const bool is_hopper = device.compute_capability_major == 9 && device.compute_capability_minor == 0;
    if (p.operands != element_type::f32) {
        if (!is_hopper) return "im2col by mma.sync";
        return lies_in_boxes ? cost_place("im2col") : cost_place("im2col by elements");
    }
    if (!is_hopper || p.precision == precision::ieee) return "im2col by FFMA";
    return p.precision == precision::tf32 && lies_in(p, packet) ? cost_place("im2col of TF32")
                                                                : cost_place("im2col of float");
}

/// The time of a product of `rows` x `cols`, in tiles whose steps multiprocessors share evenly. A row of an operand has
/// `depth_bytes`.
inline double product_us(cost_place cost, const device_traits& device, std::int64_t rows, std::int64_t cols,
                         std::int64_t depth_bytes, double bytes) {
    constexpr std::int64_t side = 64, least_steps = 8;
    const std::int64_t tiles = divide_up(rows, side) * divide_up(cols, side),
                       steps = divide_up(depth_bytes, mma_row_bytes);
    const double rounds = rounds_of(tiles, device),
                 all = static_cast<double>(tiles) * static_cast<double>(steps);
    return predicted_us(
        cost, device,
        {.bytes = bytes,
         .rounds = rounds,
         .steps =
             std::max(all / device.sm_count, static_cast<double>(std::min(steps, least_steps))) / rounds});
}

}  // namespace heddle::kernels::conv
