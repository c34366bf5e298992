#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md. One more
/// record had images of usual sizes: docs/notebook/rows.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 12, 2e6, 0, 0.0002},
        {"separable", 13, 7.15e5, 0.27, 7.55e-05},
        {"shared_memory", 11.7, 1.96e6, 0.036, 1.22e-05},
        {"register_window", 12.4, 2.71e6, 0.141, 8.7e-06},
        {"fused ring of float", 6.33, 2.5e8, 0.118, 0.000802},
        {"fused ring", 7.77, 1e9, 0.106, 0.000797},
        {"fused ring unaligned", 5.38, 1.95e6, 0.266, 0.00115},
        {"fused strips of float", 6.92, 1.15e7, 0.00224, 3.78e-05},
        {"fused strips", 6.45, 1e9, 0.00249, 5.15e-05},
        {"fused strips unaligned", 6.61, 8.78e6, 0.00358, 3.53e-05},
        {"fused chains", 6.67, 1e9, 0.00113, 7.23e-05},
        {"fused tiles", 6.29, 6.19e6, 0.0286, 0.0005},
        {"mma_xy", 6.81, 3.11e6, 0.195, 0.0129},
        {"mma_x_registers_y", 6.57, 8.21e6, 0.125, 0.0005},
        {"wgmma_xy", 17.3, 1.5e6},
        {"mma_xy_by_channel", 7.72, 3.24e6, 0.33, 0.005},
        {"decimated", 31.2, 1.44e6, 0.0286, 0.0225},
    }},
};

}  // namespace heddle::kernels::separable_filter
