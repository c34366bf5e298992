#pragma once

#include "kernels/histogram/launch.hpp"

#include <cstdint>

namespace heddle::kernels::histogram {

/// The bin of an element, or -1 where it has none.
__device__ inline int bin_of(std::uint8_t x, const range&, int) {
    return x;
}

/// The comparison is written so that NaN has no bin.
__device__ inline int bin_of(float x, const range& range, int bins) {
    if (!(x >= range.lower && x < range.upper)) return -1;
    return min(static_cast<int>((x - range.lower) * range.scale), bins - 1);
}

}  // namespace heddle::kernels::histogram
