#pragma once

#include "kernels/device/math.hpp"
#include "kernels/histogram/facts.hpp"
#include "kernels/histogram/plan/blocks.hpp"
#include "kernels/histogram/tuning/tuning.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::histogram {

/// How `vectorized` divides its bins: into parts that shared memory holds, each with blocks of its own, which read all of x.
struct parts {
    static constexpr int threads = 1024;
    static constexpr int most_columns = 32;
    static constexpr int columns_bytes = 32 << 10;  ///< most bytes of counts with several columns
    static constexpr std::size_t reserved =
        1 << 10;  ///< bytes of an SM's shared memory that each block takes besides

    int count = 1;
    int bins = 1;     ///< of a part, fewer in the last
    int columns = 1;  ///< counters per bin
    int blocks_per_sm = 1;
    std::int64_t blocks = 1;  ///< of a part
    double time = 0;          ///< predicted, in microseconds

    [[nodiscard]] std::size_t shared_bytes() const {
        return static_cast<std::size_t>(bins) * static_cast<std::size_t>(columns) * sizeof(unsigned);
    }

    parts(const histogram_facts& problem, const device_traits& device) {
        const auto most_bins = static_cast<std::int64_t>(most_shared_bytes(device) / sizeof(unsigned));
        count = static_cast<int>(divide_up(problem.bins, most_bins));
        bins = static_cast<int>(divide_up(problem.bins, static_cast<std::int64_t>(count)));
        columns = most_columns;
        while (columns > 1 && bins * columns * static_cast<int>(sizeof(unsigned)) > columns_bytes)
            columns /= 2;
        blocks_per_sm =
            2 * (shared_bytes() + reserved) <= std::max(device.shared_memory_per_sm, two_of_any) ? 2 : 1;
        const double bytes = static_cast<double>(problem.size) * static_cast<double>(problem.element_bytes);
        const double reading = bytes * blocks_per_sm / rates::sm_bytes;
        blocks =
            quickest_blocks(reading, problem.bins, std::int64_t{device.sm_count} * blocks_per_sm / count);
        const double rounds = static_cast<double>(divide_up(bins * columns, threads));
        const double waves = std::max(1.0, static_cast<double>(blocks * count) /
                                               (static_cast<double>(device.sm_count) * blocks_per_sm));
        time = waves * reading / static_cast<double>(blocks) +
               time_of_counts(problem.bins) * static_cast<double>(blocks) +
               waves * rounds * rates::round_of_counts;
    }

    /// The most shared memory of a block. A device that is known by its number alone has what each device has.
    static std::size_t most_shared_bytes(const device_traits& device) {
        return std::max<std::size_t>(device.shared_memory_per_block_optin, any_block_bytes);
    }

    /// The limit that a launch states: none where each kernel has as much.
    [[nodiscard]] std::size_t shared_limit(const device_traits& device) const {
        return shared_bytes() > any_block_bytes ? most_shared_bytes(device) : 0;
    }

  private:
    static constexpr std::size_t any_block_bytes = 48 << 10;
    static constexpr std::size_t two_of_any = 2 * (any_block_bytes + reserved);
};

/// The time of one addition in L2 for each element, in microseconds.
inline double time_of_additions(const histogram_facts& problem) {
    return static_cast<double>(problem.size) / rates::additions;
}

}  // namespace heddle::kernels::histogram
