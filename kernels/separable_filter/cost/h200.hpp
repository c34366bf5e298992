#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5, 3e6, 0, 2e-06},
        {"separable", 13, 4.22e5, 0.26, 0.000156},
        {"shared_memory", 11.8, 9.47e5, 0.038, 2.39e-05},
        {"register_window", 16.8, 1.92e6, 0, 3.74e-05},
        {"fused ring of float", 14.1, 3.5e6, 0.0228, 2.2e-05},
        {"fused ring", 14.5, 3e6, 0.0282, 1.18e-05},
        {"fused ring unaligned", 14.4, 2.5e6, 0.0643, 2.81e-05},
        {"fused strips of float", 9.57, 2.73e6, 0.000843, 1e-06},
        {"fused strips", 14.3, 2.46e6, 0.0012, 1e-06},
        {"fused strips unaligned", 10.7, 1.55e6, 0.000634, 7.55e-05},
        {"fused chains", 2.1, 2.65e6, 0.0208, 1e-06},
        {"fused tiles", 6.12, 4.11e6, 0.08, 0.00099},
        {"mma_xy", 6.76, 1.55e6, 0.347, 0.0141},
        {"mma_x_registers_y", 6.34, 3.12e6, 0.199, 0.0005},
        {"wgmma_xy", 13.1, 1.62e6, 2.13, 0.1},
        {"mma_xy_by_channel", 7.3, 3.94e6, 0.755, 0.04},
        {"decimated", 32.1, 1.1e6, 0.0484, 0.039},
    }},
};

}  // namespace heddle::kernels::separable_filter
