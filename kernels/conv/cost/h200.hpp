#pragma once

#include "kernels/conv/cost/cost.hpp"

namespace heddle::kernels::conv {

/// Made by scripts/tune-costs, which fits these numbers to the times of drawn convolutions on an H200: docs/tune-costs.md. The
/// costs of im2col by mma.sync and FFMA, which an H200 does not take, are estimates.
inline constexpr costs h200 = {
    // start_us, bytes_per_us, step_us, around_us, staged_us
    .rows = {{
        {"naive", 7.59, 7.57e5, 0.0885, 0.435},
        {"tiled", 10.3, 1.98e5, 1.24, 3.31},
        {"depthwise", 6.53, 2.6e6, 0.00401, 0.796},
        {"im2col", 9.88, 3.77e6, 0.0674, 0.707, 1.19e-05},
        {"im2col of TF32", 5.85, 3.54e6, 0.22, 0.884, 1.97e-05},
        {"im2col by mma.sync", 5.85, 3.22e6, 0.3, 0.68, 1.97e-05},
        {"im2col by FFMA", 4.52, 3.41e6, 0.95, 1.88, 7.87e-06},
        {"im2col of float", 5.69, 6.82e6, 0.657, 0.5, 8.66e-06},
        {"register_tiled words 128x32", 12, 4.24e6, 1.29, 2.27},
        {"register_tiled words 32x32", 7.57, 2.4e6, 0.4, 0.736},
        {"register_tiled fours 128x64", 7.7, 4.5e6, 1.8, 3.72},
        {"register_tiled fours 128x32", 15.3, 2.6e6, 1.07, 1.61},
        {"register_tiled fours 64x64", 11.5, 3.24e6, 0.914, 2.34},
        {"register_tiled fours 32x32", 6.65, 2.75e6, 0.309, 0.602},
        {"mma_sync elements 64x64", 13.1, 9.7e5, 1.81, 3.55},
        {"mma_sync elements 64x32", 8.71, 3.07e6, 1.39, 2.55},
        {"mma_sync words 64x32", 10.4, 1.84e6, 0.439, 1.09},
        {"mma_sync packets 128x128", 11.1, 4.5e6, 0.808, 7.8},
        {"mma_sync packets 128x64", 16.1, 2.05e6, 0.522, 4.77},
        {"mma_sync packets 64x32", 8.26, 4.42e6, 0.244, 1.08},
        {"mma_sync rows", 13.6, 9.89e5, 0, 1.67, 0.000439},
        {"grouped fma", 9.77, 2.03e6, 0.0203, 0.576, 0.000595},
        {"grouped mma", 8.59, 4.37e6, 0.0268, 0.663, 1.7e-05},
        {"persistent 128x256", 6, 4e6, 0.814, 2.27},
        {"persistent 256x128", 11.1, 5.2e6, 0.665, 4.4},
        {"persistent 192x128", 6, 3.6e6, 0.67, 2.07},
        {"persistent 128x128", 7.8, 4e6, 0.485, 1.9},
        {"persistent 256x64", 6.6, 8e6, 0.577, 2.18},
        {"persistent 128x64", 7.8, 4e6, 0.356, 1.43},
        {"persistent 64x64", 5.4, 2e6, 0.275, 1},
        {"persistent 2x128x128", 4.68, 4e6, 0.277, 4.36},
    }},
};

}  // namespace heddle::kernels::conv
