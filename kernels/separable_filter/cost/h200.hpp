#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5, 3e6, 0, 2e-06},
        {"separable", 12.9, 4.32e5, 0.297, 0.000138},
        {"shared_memory", 11.9, 7.94e5, 0.0389, 1.63e-05},
        {"register_window", 16.9, 1.82e6, 0, 1.49e-05},
        {"fused ring of float", 7.2, 1.2e7, 0.122, 8e-06},
        {"fused ring", 17.9, 3e6, 0.0541},
        {"fused ring unaligned", 13.3, 8e6, 0.0954, 1.39e-05},
        {"fused strips of float", 9.9, 3.42e6, 0.000975, 1e-06},
        {"fused strips", 9.9, 1.2e7, 0.00242, 1e-06},
        {"fused strips unaligned", 8.42, 1.9e6, 0.00239, 1.5e-06},
        {"fused chains", 5.6, 3e6, 0.0015, 1e-06},
        {"fused tiles", 6.23, 3.24e6, 0.01, 0.00096},
        {"mma_xy", 8.15, 4.64e5, 0.2, 0.0124},
        {"mma_x_registers_y", 11.4, 7.5e5, 0.02, 0.0001},
        {"wgmma_xy", 11.7, 1.5e6, 0.3, 0.05},
        {"mma_xy_by_channel", 10, 1.12e6, 0.3, 0.005},
        {"decimated", 25.8, 1.05e6, 0.052, 0.0338},
    }},
};

}  // namespace heddle::kernels::separable_filter
