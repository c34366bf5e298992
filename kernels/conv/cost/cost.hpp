#pragma once

#include <heddle/device.hpp>

#include <array>
#include <string_view>

/// The times that kernels take. Pure.
namespace heddle::kernels::conv {

/// Times in microseconds. Blocks that share a multiprocessor share its time, so each round of blocks costs only its share.
struct row_cost {
    std::string_view row;
    double start_us;
    double bytes_per_us;
    double step_us;
    double around_us;      ///< of a block, beside its steps
    double staged_us = 0;  ///< of a staged copy, or of the sums of another worker, beside the steps
};

struct costs {
    std::array<row_cost, 34> rows;
};

/// The costs on this card.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::conv
