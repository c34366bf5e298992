#pragma once

#include "kernels/separable_filter/cost/cost.hpp"

namespace heddle::kernels::separable_filter {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn blurs on an H200: docs/tune-costs.md. One more
/// record had images of usual sizes: docs/notebook/rows.md.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, wait_us, unit_us
    .rows = {{
        {"naive", 5, 3e6, 0, 0.00016},
        {"separable", 13, 7.44e5, 0.26, 7.55e-05},
        {"shared_memory", 10.9, 1.72e6, 0.0405, 1.2e-05},
        {"register_window", 12.9, 2.37e6, 0.116, 7.52e-06},
        {"fused ring of float", 12.7, 1e9, 0.0207, 0.00064},
        {"fused ring", 13.2, 4e9, 0.0156, 0.000568},
        {"fused ring unaligned", 13.2, 1e9, 0.0406, 0.00115},
        {"fused strips of float", 7.52, 4e9, 0.000601, 6.54e-05},
        {"fused strips", 8.37, 1e9, 0.00161, 3.11e-05},
        {"fused strips unaligned", 7.77, 1e9, 0.00172, 5.24e-05},
        {"fused chains", 5.95, 1e9, 0.00112, 6.44e-05},
        {"fused tiles", 7.02, 5.36e6, 0, 0.00052},
        {"mma_xy", 7.81, 2.42e6, 0, 0.0128},
        {"mma_x_registers_y", 7.03, 1.2e7, 0.161, 0.00055},
        {"wgmma_xy", 17.3, 2.02e6, 0.3, 0.0125},
        {"mma_xy_by_channel", 7.94, 3.43e6, 0.519, 0.01},
        {"decimated", 31.2, 1.44e6, 0.0242, 0.03},
    }},
};

}  // namespace heddle::kernels::separable_filter
