#pragma once

#include "kernels/gaussian_blur/cost/cost.hpp"

namespace heddle::kernels::gaussian_blur {

/// scripts/tune-costs fits these numbers to the times of randomly drawn blurs on an H200: docs/tune-costs.md. A second
/// record had images of usual sizes: docs/notebook/rows.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 6.36, 2.5e5, 0.284, 1e-07},
        {"separable", 13, 7.14e5, 0.27, 9.51e-05},
        {"shared_memory", 11.8, 1.96e6, 0.0345, 1.26e-05},
        {"tiled", 8.51, 9.75e5, 0.0219, 0.00676},
        {"fused ring of float", 8.14, 1e9, 0.168, 0.000722},
        {"fused ring", 9.58, 1e9, 0.123, 0.000645},
        {"fused ring unaligned", 9.36, 2.82e8, 0.15, 0.000703},
        {"fused strips of float", 7.75, 2.11e7, 0.00176, 4.94e-05},
        {"fused strips of bytes", 9.09, 2.5e8, 0.00336, 0.000122},
        {"fused strips", 11.4, 7.8e6, 0.00227, 3.74e-05},
        {"fused strips unaligned", 7.1, 3.9e6, 0.00303, 3.58e-05},
        {"fused chains", 7.63, 1e9, 0.00136, 6.39e-05},
        {"fused tiles", 6.64, 6.18e6, 0.0347, 0.0005},
        {"mma_xy", 8.74, 4.39e7, 0.25, 0.0143},
        {"wgmma_xy", 14.3, 2.15e6, 0.675, 0.001},
        {"mma_xy_by_channel", 8.61, 3.85e6, 0.353, 0.00929},
        {"decimated", 28.8, 3.22e6, 0.0818, 0.0597},
    }},
};

}  // namespace heddle::kernels::gaussian_blur
