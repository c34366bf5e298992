#pragma once

#include "kernels/matmul/tuning/tuning.hpp"

namespace heddle::kernels::matmul {

/// Measured on an H200: tiles at 512^3 .. 4096^3. launch_us, l2_bytes_per_us, mma_sync, vector, thin and the last tile of pipelined
/// are estimates; busy_at_memory_rate, fused and bf16x6_saved_by_low were measured on an H100.
inline constexpr tuning h200 = {
    .memory_bytes_per_us = 4.4e6,
    .l2_bytes_per_us = 5.5e6,
    .busy_at_memory_rate = 0.75,
    .copied_bytes_per_us = 2e6,
    .copy_around_us = 4,
    .launch_us = 2,
    .combined_bytes_per_us = 60e3,
    .combine_around_us = 4,
    .mma_sync = {{{0.037, 0.03, 10}, {0.05, 0.025, 4}, {0.03, 0.02, 3}, {0.03, 0.02, 3}}},
    .persistent = {{{0.72, 2.0}, {0.36, 1.0}, {0.27, 0.6}, {0.19, 0.5}}},
    .multicast = {{{0.65, 2.0}, {0.50, 1.5}, {0.44, 1.5}, {0.22, 0.6}}},
    .fused = {{{0.70, 3.2}, {0.36, 1.7}, {0.23, 1.5}}},
    .bf16x6 = {{{2.25, 3, 2}, {2.17, 4, 2}, {4, 3, 2}}},
    .bf16x6_saved_by_low = 0.25,
    .fp16x3 = {1.9, 3, 2},
    .split_bytes_per_us = 3.5e6,
    .tf32 = {{{1.33, 2.0}, {1.00, 1.6}, {0.79, 1.2}, {0.58, 0.8}, {0.575, 1.4}, {0.46, 0.6}}},
    .tf32_streaming_us = 20,
    .tf32_saved_by_low = 0.5,
    .tf32_saved_by_narrow = 0.7,
    .skinny_around_us = 2,
    .skinny_cluster_us = 1,
    .skinny_ticket_us = 2.5,
    .min_skinny_k = 256,
    .skinny_step_us = {0.16, 0.25},
    .skinny_tf32_step_us = 0.29,
    .ffma_around_us = 1.6,
    .add_up_around_us = 2.5,
    .added_up_bytes_per_us = 3e6,
    .min_part_k = 64,
    .pipelined = {{{0.169, 0.102, 3}, {0.044, 0.044, 3}, {0.0131, 0.0131, 2.3}, {0.115, 0.03, 2.5}}},
    .thin = {{{0.143, 0.06, 2.6}, {0.143, 0.06, 2.6}, {0.075, 0.035, 2.6}, {0.045, 0.035, 2.6}}},
    .tma_pipelined = {0.16, 0.09, 3},
    .warp_tiled = {0.217, 0.12, 3},
    .blocks_of_memory_rate = 0.8,
    .tf32x3_tile_us = 3.6,
    .tf32x3_step_us = 0.53,
    .tf32x3_step_by_element_us = 0.58,
    .tf32x3_alone_us = 0.72,
    .skinny_float_around_us = 5,
    .skinny_float_line_us = 0.11,
    .skinny_float_row_us = 0.01,
    .vector_around_us = 0.4,
    .vector_sharing_us = 1,
    .vector_block_bytes_per_us = 25e3,
};

}  // namespace heddle::kernels::matmul
