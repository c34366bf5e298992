#pragma once

#include "kernels/matmul/cost/cost.hpp"

namespace heddle::kernels::matmul {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn products on an H200: docs/tune-costs.md.
inline constexpr costs h200 = {
    // start_us, around_us, step_us, alone_us, of_memory_rate
    .rows = {{
        {"mma_sync 128x128", 0, 4.33, 0.04, 0, 0.9},
        {"mma_sync 32x32", 0, 1.46, 0.0509, 0.0248, 0.195},
        {"mma_sync 128x32", 1.43, 1.92, 0.0301, 0.0188, 0.9},
        {"mma_sync 32x128", 0.65, 2.13, 0.0205, 0.019, 0.675},
        {"persistent 128x256", 8.01, 2.46, 0.673, 1.04},
        {"persistent 128x128", 6.5, 1.48, 0.391, 0.747},
        {"grouped 64x128", 5.93, 1.73, 0.256, 0.7},
        {"persistent 64x64", 5.43, 1.06, 0.217, 0.456},
        {"cluster_multicast 2x128x256", 6.36, 1.8, 0.584},
        {"cluster_multicast 2x128x192", 3.72, 2.11, 0.485},
        {"cluster_multicast 2x128x160", 5.6, 1.98, 0.486},
        {"cluster_multicast 2x64x128", 3.2, 1.61, 0.227},
        {"fused 128x256", 5.04, 4.13, 0.644},
        {"fused 128x128", 9.8, 2.8, 0.33},
        {"fused 64x128", 7.95, 2, 0.237, 0.689},
        {"fused 128x64", 4.05, 1.39, 0.306},
        {"bf16x6 boxes", 6.76, 3.27, 2.48},
        {"bf16x6 pairs", 4, 4, 2.17},
        {"fp16x3", 8, 6, 1.82},
        {"tf32 128x256", 4, 7.28, 1.46, 1.44},
        {"tf32 128x192", 5.2, 2.29, 1.1, 2.03},
        {"tf32 128x128", 5.2, 1.87, 0.963, 0.948},
        {"tf32 2x64x128", 4.39, 2.87, 0.655, 0.69},
        {"pipelined 128x128", 8, 15.6, 0.183, 0, 0.9},
        {"pipelined 64x128", 2, 4.94, 0.0479, 0.044, 0.9},
        {"pipelined 32x64", 1.92, 1.63, 0.0164, 0, 0.9},
        {"pipelined 64x64", 1.44, 3.63, 0.105, 0.0315, 0.45},
        {"thin 256x32", 2.2, 3.87, 0.208, 0.0818, 0.264},
        {"thin 256x16", 3.27, 2.29, 0.14, 0.035, 0.45},
        {"thin 256x8", 2.08, 2, 0.0973, 0.0412, 0.569},
        {"tma_pipelined", 5.07, 9.81, 0.146, 0.126},
        {"warp_tiled", 2.7, 7.12, 0.234, 0.126, 0.9},
        {"tf32x3", 2, 4.32, 0.0585},
        {"skinny 64x16", 1.75, 0.634, 0.207, 0, 0.99},
        {"skinny 64x64", 1.95, 1.65, 0.312, 0, 0.742},
        {"tf32 skinny 64x16", 2.34, 0.5, 0.237, 0, 0.99},
        {"tf32 skinny 64x64", 2.6, 2, 0.239, 0, 0.656},
        {"skinny 16x32", 0.19, 6.7, 0.112, 0, 0.9},
        {"vector", 2.18, 0, 0, 0, 0.437},
    }},
    .memory_bytes_per_us = 5.32e6,
    .l2_bytes_per_us = 1.11e7,
    .copied_bytes_per_us = 1.87e6,
    .launch_us = 4.53,
    .combine_us = 2.31,
    .elements_per_us = 9.77e3,
    .by_element = 1.67,
    .adding = 1.59,
    .epilogue_us = 2.6,
};

}  // namespace heddle::kernels::matmul
