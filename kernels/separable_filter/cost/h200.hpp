#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md. One more
/// record had images of usual sizes: docs/notebook/rows.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5.25, 1.25e5, 0.236, 1e-07},
        {"separable", 13, 7.15e5, 0.27, 8.31e-05},
        {"shared_memory", 12.9, 2.01e6, 0.0238, 1.24e-05},
        {"tiled", 8.92, 9.75e5, 0.0211, 0.00676},
        {"register_window", 17.8, 2.5e6, 0, 9.54e-06},
        {"fused ring of float", 9.05, 1e9, 0.148, 0.000936},
        {"fused ring", 9.18, 1e9, 0.108, 0.000684},
        {"fused ring unaligned", 12, 3.52e7, 0.17, 0.000516},
        {"fused strips of float", 8, 1.4e7, 0.00189, 4e-05},
        {"fused strips of bytes", 8.4, 1e9, 0.00336, 0.000159},
        {"fused strips", 11.2, 7.8e6, 0.00187, 4.16e-05},
        {"fused strips unaligned", 7.1, 3.9e6, 0.0032, 2.69e-05},
        {"fused chains", 6.67, 1e9, 0.00124, 6.94e-05},
        {"fused tiles", 6.47, 4.64e6, 0.0315, 0.0005},
        {"mma_xy", 7.38, 4.22e6, 0.564, 0.0131},
        {"mma_x_registers_y", 9.58, 3.38e6, 0.0525, 0.0005},
        {"wgmma_xy", 10.7, 1.01e6, 0.675, 0.001},
        {"mma_xy_by_channel", 8.3, 1.63e6, 0.417, 0.00929},
        {"decimated", 30.4, 2.48e6, 0.0532, 0.0585},
    }},
};

}  // namespace heddle::kernels::separable_filter
