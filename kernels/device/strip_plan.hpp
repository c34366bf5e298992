#pragma once

#include "kernels/device/clusters.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/tuning/strips.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels {

/// How a matrix is distributed in strips of rows (strip.cuh). Pure.
struct strip_plan {
    int log_rows = 0;  ///< a strip has 2^log_rows rows
    /// Whether neighbouring threads read, or write, neighbours in a row; else they are neighbours in a column.
    bool reads_rows = false;
    bool writes_rows = false;
    std::int64_t blocks = 1;
    std::int64_t cluster = 1;  ///< blocks that share a strip
};

/// Constants that the plan and the kernels share.
struct strip_limits {
    static constexpr int threads = 512;
    static constexpr int blocks_per_sm = 2;
    static constexpr int elements = 8;  ///< of a tile that a thread holds, all in flight together
    static constexpr int log_tile = 12;
    static_assert(1 << log_tile == threads * elements);
    /// Blocks of a cluster. More than `usual_blocks` only where strips are few, as not every kernel may have them.
    static constexpr int most_blocks = 16;
    static constexpr int usual_blocks = 8;
    static constexpr int log_lanes =
        5;  ///< rows that fill whole sectors, and columns that a warp reads along a row
    static constexpr int log_most_rows = 9;
};

/// Problem is a layout that says whether neighbours in memory lie in one column, for x and for y.
template <class Problem>
strip_plan plan_strips(const Problem& problem, const device_traits& device) {
    using limits = strip_limits;
    const bool may_share = has_clusters(device.compute_capability_major, device.compute_capability_minor);
    const std::int64_t cols = problem.cols, places = std::int64_t{limits::blocks_per_sm} * device.sm_count;
    const int most_blocks = may_share ? limits::most_blocks : limits::usual_blocks;
    const auto strips_of = [&](int log_rows) { return divide_up(problem.rows, std::int64_t{1} << log_rows); };
    const auto cols_of = [](int log_rows) { return std::int64_t{1} << (limits::log_tile - log_rows); };

    int log_rows = 0;
    if (problem.x_in_columns || problem.y_in_columns) {
        while (log_rows < limits::log_lanes && strips_of(log_rows) > 1) ++log_rows;
        // Where rows are few, strips are narrower than sectors, so that more multiprocessors have work.
        while ((static_cast<int>(problem.element_bytes) << log_rows) > strip_sharing::least_bytes &&
               cols_of(log_rows) < cols && strips_of(log_rows) * most_blocks < device.sm_count)
            --log_rows;
    }
    while (log_rows < limits::log_most_rows && cols_of(log_rows) / 2 >= cols) ++log_rows;

    const std::int64_t strips = strips_of(log_rows);
    const bool has_long_rows = log_rows <= limits::log_tile - limits::log_lanes;
    std::int64_t cluster = 1;
    while (may_share && cluster < most_blocks && cluster * cols_of(log_rows) < cols &&
           (cluster < limits::usual_blocks ? strips * cluster < strip_sharing::waves * places
                                           : strips * cluster * 2 <= places))
        cluster *= 2;
    return {.log_rows = log_rows,
            .reads_rows = has_long_rows && !problem.x_in_columns,
            .writes_rows = has_long_rows && !problem.y_in_columns,
            .blocks = strips * cluster,
            .cluster = cluster};
}

}  // namespace heddle::kernels
