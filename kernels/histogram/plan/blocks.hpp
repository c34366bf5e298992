#pragma once

#include "kernels/device/math.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::histogram {

/// How many blocks share `items`, so that each thread takes at least one. There are at most `most` blocks, but
/// more where the counts of one block could exceed 32 bits.
inline std::int64_t blocks_for(std::int64_t size, std::int64_t items, std::int64_t threads,
                               std::int64_t most) {
    constexpr std::int64_t countable = std::int64_t{1} << 31;
    return std::max(std::min(divide_up(items, threads), most), size / countable + 1);
}

}  // namespace heddle::kernels::histogram
