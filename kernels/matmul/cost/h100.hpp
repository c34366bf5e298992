#pragma once

#include "kernels/matmul/cost/cost.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace heddle::kernels::matmul {

/// Made by scripts/tune-matmul, which fits these numbers to the times of drawn products on h100: docs/tune-matmul.md. Those of
/// skinny, of fused's tile of 256 x 64 and of the memory were then set by products of many rows and few columns.
inline constexpr costs h100 = {
    // step_us, around_us, start_us, alone_us, min_steps
    .kernels = {{
        {"mma_sync 128x128", 0.04, 7, 0, 0.03},
        {"mma_sync 32x32", 0.0712, 2.82, 0, 0.0103},
        {"mma_sync 128x32", 0.0245, 3.36, 0, 0.0175},
        {"mma_sync 32x128", 0.035, 4.03, 0, 0.0123},
        {"persistent 128x256", 0.556, 2.3, 5.6},
        {"persistent 128x128", 0.346, 1.83, 3.25},
        {"persistent 64x64", 0.19, 0.874, 2.47},
        {"cluster_multicast 2x128x256", 0.624, 1.68, 3.29},
        {"cluster_multicast 2x128x192", 0.5, 1.5, 4.5},
        {"cluster_multicast 2x128x160", 0.48, 1.26, 2.8},
        {"cluster_multicast 2x64x128", 0.311, 0.576, 2.77},
        {"fused 128x256", 0.619, 3.53, 5.04},
        {"fused 128x128", 0.423, 2.8, 9.8},
        {"fused 64x128", 0.221, 2.97, 5.88},
        {"fused 128x64", 0.29, 1.1, 6},
        {"bf16x6 boxes", 2.25, 3.27, 0, 0, 2},
        {"bf16x6 pairs", 2.17, 4, 0, 0, 2},
        {"fp16x3", 1.9, 3, 0, 0, 2},
        {"tf32 128x256", 1.33, 1.4, 1},
        {"tf32 128x192", 1, 1.6, 1},
        {"tf32 128x128", 0.79, 1.31, 1},
        {"tf32 2x64x128", 0.575, 1.4, 1},
        {"pipelined 128x128", 0.199, 3.4, 0, 0.111},
        {"pipelined 64x128", 0.0499, 6.59, 0, 0.044},
        {"pipelined 32x64", 0.0149, 2.01, 0, 0.0131},
        {"pipelined 64x64", 0.115, 3.15, 0, 0.042},
        {"thin 256x32", 0.266, 4.2, 0, 0.101},
        {"thin 256x16", 0.14, 2.55, 0.7, 0.035},
        {"thin 256x8", 0.045, 2, 0, 0.0412},
        {"grouped 128x256", 0.556, 2.3, 5.6},
        {"grouped 64x128", 0.324, 1.28, 2.59},
        {"tma_pipelined", 0.16, 4.2, 1.96, 0.126},
        {"warp_tiled", 0.26, 5.88, 0.7, 0.168},
    }},
    .memory_bytes_per_us = 3.22e6,
    .l2_bytes_per_us = 3.06e6,
    .l2_boxes_bytes_per_us = 8.4e6,
    .busy_at_memory_rate = 0.58,
    .copied_bytes_per_us = 1.45e6,
    .copy_around_us = 4.71,
    .launch_us = 2,
    .elements_stored_per_us = 5.55e3,
    .combined_bytes_per_us = 5.52e4,
    .combine_around_us = 2.8,
    .mma_sync_slower_by_element = 2.1,
    .mma_sync_by_element_of_memory_rate = 0.504,
    .bf16x6_saved_by_low = 0.175,
    .split_bytes_per_us = 3.5e6,
    .tf32_streaming_us = 20,
    .tf32_saved_by_low = 0.5,
    .tf32_saved_by_narrow = 0.7,
    .skinny_around_us = 2.6,
    .skinny_round_us = 3,
    .skinny_epilogue_us = 4.2,
    .skinny_cluster_us = 1,
    .skinny_ticket_us = 2.5,
    .min_skinny_k = 256,
    .skinny_step_us = {0.188, 0.3},
    .skinny_step_along_k_us = {0.38, 0.5},
    .skinny_tf32_step_us = 0.29,
    .ffma_around_us = 1.97,
    .add_up_around_us = 2.94,
    .added_up_bytes_per_us = 2.1e6,
    .min_part_k = 64,
    .blocks_of_memory_rate = 0.588,
    .tf32x3_tile_us = 4.32,
    .tf32x3_step_us = 0.53,
    .tf32x3_step_by_element_us = 0.58,
    .tf32x3_alone_us = 0.72,
    .skinny_float_around_us = 6,
    .skinny_float_line_us = 0.168,
    .skinny_float_row_us = 0.01,
    .vector_around_us = 1.91,
    .vector_of_memory_rate = 0.75,
    .vector_sharing_us = 1,
    .vector_block_bytes_per_us = 2.5e4,
};

/// The place of a kernel's cost, which is the same for each card. One that has none does not compile.
consteval std::size_t place_of_cost(std::string_view kernel) {
    std::size_t place = 0;
    while (h100.kernels.at(place).kernel != kernel) ++place;
    return place;
}

/// What a row of a table costs on a card.
template <const auto& rows>
const kernel_cost& cost_of(const costs& card, std::size_t row) {
    static constexpr auto places = []<std::size_t... i>(std::index_sequence<i...>) {
        return std::array{place_of_cost(rows[i].name)...};
    }
    (std::make_index_sequence<rows.size()>());
    return card.kernels[places[row]];
}

}  // namespace heddle::kernels::matmul
