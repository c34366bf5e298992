#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5, 3e+06, 0, 2e-06},
        {"separable", 8, 2e+06, 0.1, 2e-05},
        {"shared_memory", 9.5, 2.5e+06, 0.04, 1.1e-05},
        {"register_window", 11, 2.6e+06, 0.12, 9e-06},
        {"fused ring of float", 5, 3e+06, 0.1, 1e-06},
        {"fused ring", 6, 3e+06, 0.1, 1e-06},
        {"fused ring unaligned", 6, 2e+06, 0.2, 2e-06},
        {"fused strips of float", 4.5, 3e+06, 0.002, 1e-06},
        {"fused strips", 4.5, 3e+06, 0.002, 1e-06},
        {"fused strips unaligned", 4.5, 2.5e+06, 0.003, 1.5e-06},
        {"fused chains", 5.6, 3e+06, 0.0015, 1e-06},
        {"fused tiles", 4, 4e+06, 0.01, 0.001},
        {"mma_xy", 6, 3e+06, 0.1, 0.01},
        {"mma_x_registers_y", 5, 3e+06, 0.02, 0.0001},
        {"wgmma_xy", 9, 3e+06, 0.3, 0.05},
        {"mma_xy_by_channel", 5, 3e+06, 0.3, 0.005},
        {"decimated", 22, 2e+06, 0.01, 0.01},
    }},
};

}  // namespace heddle::kernels::separable_filter
