#pragma once

#include "kernels/matmul/cost/cost.hpp"

namespace heddle::kernels::matmul {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn products on an H200: docs/tune-costs.md.
inline constexpr costs h200 = {
    // start_us, around_us, step_us, alone_us, of_memory_rate
    .rows = {{
        {"mma_sync 128x128", 2, 4.76, 0.04, 0, 0.9},
        {"mma_sync 32x32", 0.804, 1.36, 0.0641, 0.0223, 0.254},
        {"mma_sync 128x32", 3.28, 1.87, 0.0293, 0.0233, 0.9},
        {"mma_sync 32x128", 1.9, 2.25, 0.0244, 0.0257, 0.675},
        {"persistent 128x256", 8.33, 2.66, 0.673, 1.04},
        {"persistent 128x128", 6.24, 1.66, 0.391, 0.746},
        {"grouped 64x128", 5.93, 1.73, 0.256, 0.7},
        {"persistent 64x64", 5.21, 1.1, 0.217, 0.456},
        {"cluster_multicast 2x128x256", 6.61, 1.94, 0.584},
        {"cluster_multicast 2x128x192", 4.84, 2.37, 0.485},
        {"cluster_multicast 2x128x160", 5.04, 2.23, 0.467},
        {"cluster_multicast 2x64x128", 3, 1.51, 0.227},
        {"fused 128x256", 5.04, 4.54, 0.644},
        {"fused 128x128", 10.8, 2.69, 0.33},
        {"fused 64x128", 7.16, 2.2, 0.266, 0.62},
        {"fused 128x64", 4.18, 1.3, 0.306},
        {"bf16x6 boxes", 6.76, 3.27, 2.38},
        {"bf16x6 pairs", 6.76, 4, 2.08},
        {"fp16x3", 8, 6, 1.75},
        {"tf32 128x256", 4, 7.28, 1.46, 1.44},
        {"tf32 128x192", 6.76, 2.52, 0.99, 1.83},
        {"tf32 128x128", 5.2, 1.87, 0.963, 0.948},
        {"tf32 2x64x128", 4.83, 2.87, 0.59, 0.759},
        {"pipelined 128x128", 8, 16.2, 0.183, 0, 0.9},
        {"pipelined 64x128", 2, 4.94, 0.0479, 0.044, 0.9},
        {"pipelined 32x64", 2, 1.79, 0.0164, 0, 0.9},
        {"pipelined 64x64", 1.5, 3.71, 0.105, 0.0328, 0.45},
        {"thin 256x32", 3.05, 3.72, 0.2, 0.0754, 0.528},
        {"thin 256x16", 3.54, 2.58, 0.119, 0.0501, 0.432},
        {"thin 256x8", 2.48, 2, 0.0973, 0.0412, 0.483},
        {"tma_pipelined", 5.07, 9.81, 0.146, 0.126},
        {"warp_tiled", 2.7, 7.4, 0.234, 0.126, 0.9},
        {"tf32x3", 2, 4.32, 0.0585},
        {"skinny 64x16", 1.52, 0.906, 0.207, 0, 0.99},
        {"skinny 64x64", 1.93, 1.93, 0.312, 0, 0.5},
        {"tf32 skinny 64x16", 2.43, 0.65, 0.237, 0, 0.99},
        {"tf32 skinny 64x64", 2.6, 2, 0.239, 0, 0.656},
        {"skinny 16x32", 0, 7.25, 0.14, 0, 0.9},
        {"vector", 1.7, 0, 0, 0, 0.393},
    }},
    .memory_bytes_per_us = 5.32e6,
    .l2_bytes_per_us = 1.11e7,
    .copied_bytes_per_us = 1.87e6,
    .launch_us = 3.92,
    .combine_us = 3,
    .elements_per_us = 1.06e4,
    .by_element = 1.57,
    .adding = 1.59,
    .epilogue_us = 2.34,
};

}  // namespace heddle::kernels::matmul
