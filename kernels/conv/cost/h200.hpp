#pragma once

#include "kernels/conv/cost/cost.hpp"

namespace heddle::kernels::conv {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn convolutions on an H200: docs/tune-costs.md. The
/// costs of im2col by mma.sync and FFMA, which an H200 does not take, are estimates.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, step_us, around_us, staged_us
    .rows = {{
        {"naive", 7.99, 5.29e5, 0.0409, 0.483},
        {"tiled", 9.36, 2.64e5, 1.24, 3.31},
        {"depthwise", 7.27, 2.60e6, 0.00366, 1.18},
        {"im2col", 5.85, 3.22e6, 0.0999, 0.68, 1.97e-05},
        {"im2col of TF32", 5.85, 3.22e6, 0.2, 0.68, 1.97e-05},
        {"im2col by mma.sync", 5.85, 3.22e6, 0.3, 0.68, 1.97e-05},
        {"im2col by FFMA", 4.52, 3.41e6, 0.95, 1.88, 7.87e-06},
        {"im2col of float", 4.52, 3.41e6, 0.632, 1.88, 7.87e-06},
        {"register_tiled words 128x32", 14.6, 4.24e6, 1.3, 1.52},
        {"register_tiled words 32x32", 9.17, 2.40e6, 0.385, 0.755},
        {"register_tiled fours 128x64", 15.4, 4.50e6, 1.73, 3.72},
        {"register_tiled fours 128x32", 11.8, 2.60e6, 1.07, 1.33},
        {"register_tiled fours 64x64", 11.5, 3.24e6, 0.914, 2.34},
        {"register_tiled fours 32x32", 8.87, 2.75e6, 0.309, 0.602},
        {"mma_sync elements 64x64", 13.1, 9.70e5, 1.89, 3.55},
        {"mma_sync elements 64x32", 10.5, 3.07e6, 1.54, 2.11},
        {"mma_sync words 64x32", 10.4, 1.84e6, 0.439, 0.991},
        {"mma_sync packets 128x128", 11.1, 4.50e6, 0.808, 7.8},
        {"mma_sync packets 128x64", 16.1, 2.05e6, 0.502, 4.77},
        {"mma_sync packets 64x32", 10.2, 2.21e6, 0.231, 0.985},
        {"mma_sync rows", 12.4, 1.03e6, 0.16, 1.46, 0.000399},
        {"grouped fma", 8.79, 1.56e6, 0.0195, 0.711, 0.000458},
        {"grouped mma", 6.83, 4.37e6, 0.0536, 1.02, 1.7e-05},
        {"persistent 128x256", 6, 4e6, 0.724, 2.8},
        {"persistent 256x128", 6, 4e6, 0.71, 3.5},
        {"persistent 192x128", 6, 4e6, 0.55, 2.4},
        {"persistent 128x128", 6, 4e6, 0.424, 1.9},
        {"persistent 256x64", 6, 4e6, 0.555, 1.9},
        {"persistent 128x64", 6, 4e6, 0.324, 1.1},
        {"persistent 64x64", 6, 4e6, 0.231, 1},
        {"persistent 2x128x128", 6, 4e6, 0.41, 3.6},
    }},
};

}  // namespace heddle::kernels::conv
