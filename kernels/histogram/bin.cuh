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

/// Calls count(bin) for each element that has a bin. Blocks of `threads` threads go over the elements together.
template <int threads, class T, class Count>
__device__ void for_each_bin(const arguments<T>& a, const Count& count) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < a.x.size; i += step) {
        const int bin = bin_of(a.x.data[i * a.x.stride], a.range, a.bins);
        if (bin >= 0) count(bin);
    }
}

}  // namespace heddle::kernels::histogram
