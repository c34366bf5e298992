#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md. One more
/// record had images of usual sizes: docs/notebook/rows.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5.25, 4e6, 0.315, 1e-07},
        {"separable", 13, 7.15e5, 0.27, 7.55e-05},
        {"shared_memory", 12, 1.98e6, 0.0332, 1.24e-05},
        {"register_window", 12.5, 2.71e6, 0.147, 8.7e-06},
        {"fused block", 6, 1e9, 0.01, 0.001},
        {"fused ring of float", 6.95, 1e9, 0.113, 0.000802},
        {"fused ring", 7.92, 1e9, 0.106, 0.000797},
        {"fused ring unaligned", 6.78, 1.1e6, 0.245, 0.00104},
        {"fused strips of float", 6.21, 2.81e7, 0.0016, 4.94e-05},
        {"fused strips of bytes", 11.2, 1e9, 0.00168, 4.68e-05},
        {"fused strips", 6.34, 6.25e7, 0.00187, 4.16e-05},
        {"fused strips unaligned", 5.46, 1.56e7, 0.00303, 3.58e-05},
        {"fused chains", 6.67, 1e9, 0.00124, 6.94e-05},
        {"fused tiles", 6.04, 6.18e6, 0.0315, 0.0005},
        {"mma_xy", 7, 1.3e7, 0.25, 0.0135},
        {"mma_x_registers_y", 7.37, 1.35e7, 0.14, 0.0005},
        {"wgmma_xy", 14.9, 2.24e6, 0.675, 0.001},
        {"mma_xy_by_channel", 8.52, 3.85e6, 0.321, 0.00929},
        {"decimated", 31.2, 1.44e6, 0.0286, 0.0225},
    }},
};

}  // namespace heddle::kernels::separable_filter
