#pragma once

#include <heddle/device.hpp>

#include <array>
#include <string_view>

/// What the parts of a product cost on a card, in microseconds and bytes a microsecond. Pure.
namespace heddle::kernels::matmul {

/// A row's time is its start and the larger of two: its bytes at the memory's rate, and its rounds, of so many steps each, and
/// what is around them. A step is 64 along k; where a block has one tile, 1.
struct row_cost {
    std::string_view row;  ///< its tile's name, by whatever schedule it is done
    double start_us;       ///< before the first round and after the last
    double around_us;      ///< of a round, beside its steps: the first loads and the stores
    double step_us;        ///< with all multiprocessors at work
    double alone_us = 0;   ///< a step's least in the last round: of a block alone, or of a part of a tile
    double of_memory_rate = 1;  ///< the share of it that the row reaches
};

struct costs {
    std::array<row_cost, 39> rows;

    double memory_bytes_per_us;
    double l2_bytes_per_us;
    double copied_bytes_per_us;  ///< written by a kernel that copies operands or adds up sums
    double launch_us;            ///< of a further kernel of the same call
    double combine_us;           ///< of those who share a tile, without one
    double elements_per_us;      ///< of C, stored one by one by a multiprocessor
    double by_element;           ///< a round's factor, where A and B are read one by one,
    double adding;               ///< and what is around it, where C is read too
    double epilogue_us;          ///< its code, which comes from memory
};

/// The card's. A card of compute capability 9.0 that is not known has an H100's, one of 8.0 an A100's, all others generic ones.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::matmul
