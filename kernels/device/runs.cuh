#pragma once

#include "kernels/device/math.hpp"

#include <algorithm>
#include <cstdint>

/// A float sum of ones, or a float counter, stops growing at 2^24. So a thread that takes any number of elements combines
/// them in runs, and then combines the runs.
namespace heddle::kernels {

inline constexpr std::int64_t run_length = 4096;

/// The most combinations that any one of `count` elements passes through.
constexpr std::int64_t runs_depth(std::int64_t count) {
    return std::min(count, run_length) + divide_up(count, run_length);
}

/// The states element(first), element(first + step), ... below `end`, combined in this order.
template <class State, class Element, class Combine>
__device__ State combine_runs(std::int64_t first, std::int64_t end, std::int64_t step, State identity,
                              Element element, Combine combine) {
    State total = identity;
    while (first < end) {
        const std::int64_t stop = ::min(end, first + run_length * step);
        State run = identity;
#pragma unroll 4
        for (; first < stop; first += step) run = combine(run, element(first));
        total = combine(total, run);
    }
    return total;
}

}  // namespace heddle::kernels
