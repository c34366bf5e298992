#pragma once

#include "kernels/device/math.hpp"
#include "kernels/histogram/tuning/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heddle::kernels::histogram {

/// How many blocks share `items`, so that each thread takes at least one. There are at most `most` blocks, but
/// more where the counts of one block could exceed 32 bits.
inline std::int64_t blocks_for(std::int64_t size, std::int64_t items, std::int64_t threads,
                               std::int64_t most) {
    constexpr std::int64_t countable = std::int64_t{1} << 31;
    return std::max(std::min(divide_up(items, threads), most), size / countable + 1);
}

/// The time in which a block adds its counts to L2's, in microseconds.
inline double time_of_counts(std::int64_t bins) {
    return static_cast<double>(bins) / (rates::counts_of_sector * rates::additions);
}

/// The number of blocks, up to `most`, that takes the least where a single block reads x in the time `reading`, in microseconds.
/// More blocks read sooner and add up more counts: the sum of both times is least where they are equal.
inline std::int64_t quickest_blocks(double reading, std::int64_t bins, std::int64_t most) {
    const double best = std::min(std::sqrt(reading / time_of_counts(bins)), static_cast<double>(most));
    return std::max<std::int64_t>(std::llround(best), 1);
}

}  // namespace heddle::kernels::histogram
