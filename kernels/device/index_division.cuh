#pragma once

#include "kernels/device/quick_division.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heddle::kernels {

/// Division of numbers below `end`: by a multiplication where the numbers allow it, else by a 64-bit division.
struct index_division {
    std::int64_t divisor;
    bool is_quick;
    quick_division quick;

    __host__ index_division(std::int64_t by, std::int64_t end)
        : divisor(std::max<std::int64_t>(by, 1)),
          is_quick(end <= std::numeric_limits<std::uint32_t>::max() / divisor),
          quick(is_quick ? static_cast<std::uint32_t>(divisor) : 1) {}

    __device__ std::int64_t quotient(std::int64_t n) const {
        return is_quick ? quick.quotient(static_cast<std::uint32_t>(n)) : n / divisor;
    }
};

}  // namespace heddle::kernels
