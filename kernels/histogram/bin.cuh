#pragma once

#include "kernels/histogram/launch.hpp"
#include "kernels/histogram/plan/blocks.hpp"

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

/// The blocks of rungs that read element by element.
struct element_tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
};

/// Their blocks and threads for a problem.
inline plan plan_of_elements(const histogram_facts& problem, const device_traits& device) {
    constexpr std::int64_t threads = element_tile::threads;
    return {.blocks = {blocks_for(problem.size, problem.size, threads,
                                  std::int64_t{device.sm_count} * element_tile::blocks_per_sm)},
            .threads = {threads}};
}

/// Calls count(bin) for each element that has a bin. All blocks go over the elements together.
template <class T, class Count>
__device__ void for_each_bin(const arguments<T>& a, const Count& count) {
    constexpr int threads = element_tile::threads;
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < a.x.size; i += step) {
        const int bin = bin_of(a.x.data[i * a.x.stride], a.range, a.bins);
        if (bin >= 0) count(bin);
    }
}

}  // namespace heddle::kernels::histogram
