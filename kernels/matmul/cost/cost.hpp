#pragma once

#include <heddle/device.hpp>

#include <array>
#include <string_view>

/// The costs of the parts of a product on a card, in microseconds and in bytes per microsecond. Pure.
namespace heddle::kernels::matmul {

/// The time of a row is its start plus the larger of two times. One is its bytes at the memory's rate. The other is that of
/// its rounds, with their steps and the work around them. A step is 64 along k, or 1 if blocks have one tile each.
struct row_cost {
    std::string_view row;  ///< the name of its tile, for all schedules
    double start_us;       ///< before the first round and after the last
    double around_us;      ///< of a round, beside its steps: the first loads and the stores
    double step_us;        ///< with all multiprocessors at work
    /// Least time of a step in the last round, for a block alone or a part of a tile that no other is beside along k.
    double alone_us = 0;
    double of_memory_rate = 1;  ///< the share of the memory's rate that the row reaches
};

struct costs {
    std::array<row_cost, 45> rows;

    double memory_bytes_per_us;
    double l2_bytes_per_us;
    double copied_bytes_per_us;  ///< written by a kernel that copies operands or adds up sums
    double launch_us;            ///< of a further kernel of the same call
    double combine_us;           ///< to combine sums of shared tiles without a further kernel
    double elements_per_us;      ///< of C, which a multiprocessor stores one by one
    double by_element;           ///< factor of a round in which A and B are read one by one
    double adding;               ///< factor of the work around a round in which C is read too
    double epilogue_us;          ///< of its code, which comes from memory
};

/// The costs on a card. Unknown cards of compute capability 9.0 cost as an H100, of 8.0 as an A100, others as `generic`.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::matmul
