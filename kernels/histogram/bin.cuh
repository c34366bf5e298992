#pragma once

#include "kernels/histogram/launch.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::histogram {

/// The bin of an element, or -1 where it has none.
__device__ inline int bin_of(std::uint8_t x, const range&, int) {
    return x;
}

/// Compared so that NaN has none.
__device__ inline int bin_of(float x, const range& range, int bins) {
    if (!(x >= range.lower && x < range.upper)) return -1;
    return min(static_cast<int>((x - range.lower) * range.scale), bins - 1);
}

/// How many blocks share `items`, each thread of which takes at least one: those that fill the device, and
/// more where one block would count beyond 32 bits.
inline std::int64_t blocks_for(std::int64_t size, std::int64_t items, std::int64_t threads,
                               std::int64_t most) {
    constexpr std::int64_t countable = std::int64_t{1} << 31;
    return std::max(std::min((items + threads - 1) / threads, most), size / countable + 1);
}

}  // namespace heddle::kernels::histogram
