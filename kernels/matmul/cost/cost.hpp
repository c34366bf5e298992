#pragma once

#include <heddle/device.hpp>

#include <array>
#include <cstddef>
#include <string_view>

/// What the parts of a product cost on a card, in microseconds and bytes a microsecond. Pure.
namespace heddle::kernels::matmul {

/// A kernel's step is 64 along k; where a block has one tile, 1.
struct kernel_cost {
    std::string_view kernel;
    double step_us;       ///< with all multiprocessors at work
    double around_us;     ///< of a round of tiles, beside its steps: the first loads and the stores
    double start_us = 0;  ///< before the first tile: barriers, maps, and code that comes from memory
    double alone_us = 0;  ///< a step where a block has its multiprocessor to itself
    int min_steps = 8;    ///< of a worker's share of a tile: fewer do not pay
};

struct costs {
    std::array<kernel_cost, 33> kernels;

    double memory_bytes_per_us;
    double l2_bytes_per_us;
    double l2_boxes_bytes_per_us;  ///< by the tensor memory accelerator
    double busy_at_memory_rate;    ///< the share of multiprocessors that reaches that
    double copied_bytes_per_us;    ///< read and written by a copy of an operand
    double copy_around_us;
    double launch_us;  ///< from the end of one kernel to the work of the next

    double elements_stored_per_us;  ///< of C by a multiprocessor, one by one

    // Sums of those who share a tile, left in L2, added up by one multiprocessor.
    double combined_bytes_per_us;
    double combine_around_us;

    double mma_sync_slower_by_element;  ///< where it cannot read 16 bytes at once
    double mma_sync_by_element_of_memory_rate;
    double bf16x6_saved_by_low;   ///< of the lowest tiles' time, where half of them is empty
    double split_bytes_per_us;    ///< before fp16x3: read and written
    double tf32_streaming_us;     ///< beyond combine_around_us
    double tf32_saved_by_low;     ///< of the lowest tiles' time, where half of them is empty
    double tf32_saved_by_narrow;  ///< of the rightmost tiles' time, where these are narrow
    double skinny_around_us;
    double skinny_round_us;     ///< of a round of tiles after the first, beside its steps
    double skinny_epilogue_us;  ///< of a round of the widest tiles, also where C is added to
    double skinny_cluster_us;   ///< where blocks of a cluster share a tile
    double skinny_ticket_us;    ///< where clusters do
    int min_skinny_k;           ///< of a block: less does not pay for adding up
    std::array<double, 2> skinny_step_us;
    /// Where the longer operand's rows lie along k, and so far apart.
    std::array<double, 2> skinny_step_along_k_us;
    double skinny_tf32_step_us;

    double ffma_around_us;
    double add_up_around_us;  ///< of the kernel that adds up what parts of tiles left
    double added_up_bytes_per_us;
    int min_part_k;                    ///< of a part of a tile: less does not pay
    double blocks_of_memory_rate;      ///< what thin and mma_sync reach
    double tf32x3_tile_us;             ///< beside its steps
    double tf32x3_step_us;             ///< of two tiles side by side, each
    double tf32x3_step_by_element_us;  ///< where copies of 16 bytes cannot be used
    double tf32x3_alone_us;            ///< of one tile
    double skinny_float_around_us;
    double skinny_float_line_us;  ///< for what a block reads at once, and
    double skinny_float_row_us;   ///< for each row that it is multiplied by
    double vector_around_us;
    double vector_of_memory_rate;      ///< what it reaches
    double vector_sharing_us;          ///< where blocks share a row or column of C
    double vector_block_bytes_per_us;  ///< that one block reads
};

/// The card's. A card of compute capability 9.0 that is not known has an H100's, one of 8.0 an A100's, all others generic ones.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::matmul
