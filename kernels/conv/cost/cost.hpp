#pragma once

#include <heddle/device.hpp>

#include <array>
#include <string_view>

/// What kernels take. Pure.
namespace heddle::kernels::conv {

/// In microseconds. The blocks that a multiprocessor has at a time share it, so a round of each takes its share.
struct row_cost {
    std::string_view row;
    double start_us;
    double bytes_per_us;
    double step_us;
    double around_us;      ///< of a block, beside its steps
    double staged_us = 0;  ///< of a copy beside them
};

struct costs {
    std::array<row_cost, 31> rows;
};

/// The card's.
const costs& costs_of(const device_traits& device);

}  // namespace heddle::kernels::conv
