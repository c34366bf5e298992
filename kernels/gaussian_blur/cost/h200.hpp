#pragma once

#include "kernels/gaussian_blur/cost/cost.hpp"

namespace heddle::kernels::gaussian_blur {

/// scripts/tune-costs fits these numbers to the times of randomly drawn blurs on an H200: docs/tune-costs.md. A second
/// record had images of usual sizes: docs/notebook/rows.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5.25, 2.5e5, 0.256, 1e-07},
        {"separable", 10.5, 6.97e5, 0.27, 0.000129},
        {"shared_memory", 9.98, 2.38e6, 0.046, 7.83e-06},
        {"tiled", 5.17, 5.8e5, 0.0314, 0.0103},
        {"fused ring of float", 10.5, 1e9, 0.128, 0.000487},
        {"fused ring", 9.58, 1e9, 0.113, 0.000726},
        {"fused ring unaligned", 7.58, 2.82e8, 0.15, 0.000804},
        {"fused strips of float", 8.53, 2.11e7, 0.00132, 5.14e-05},
        {"fused strips of bytes", 5.31, 2.5e8, 0.00288, 0.00011},
        {"fused strips", 8.55, 7.8e6, 0.00236, 3.74e-05},
        {"fused strips unaligned", 7.1, 4.29e6, 0.00315, 3.22e-05},
        {"fused chains", 7.63, 1e9, 0.00136, 4.79e-05},
        {"fused tiles", 5.38, 6.18e6, 0.0451, 0.00065},
        {"mma_xy", 8.05, 4.12e6, 0.25, 0.0143},
        {"wgmma_xy", 14.9, 2.15e6, 0.675, 0.001},
        {"mma_xy_by_channel", 8.61, 2.89e6, 0.459, 0.00929},
        {"decimated", 24.9, 2.42e6, 0.0885, 0.0776},
    }},
};

}  // namespace heddle::kernels::gaussian_blur
