#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::kernels {

/// How a matrix is shared out in strips of rows (strip.cuh). Pure.
struct strip_plan {
    int log_rows = 0;  ///< a strip has 2^log_rows rows
    /// Threads that are neighbours read, or write, neighbours in a row; else in a column.
    bool reads_rows = false;
    bool writes_rows = false;
    std::int64_t blocks = 1;
    std::int64_t cluster = 1;  ///< blocks that share a strip
};

/// Numbers that the plan and the kernels share.
struct strip_limits {
    static constexpr int threads = 512;
    static constexpr int blocks_per_sm = 2;
    static constexpr int elements = 8;  ///< of a tile that a thread holds, all under way together
    static constexpr int log_tile = 12;
    static_assert(1 << log_tile == threads * elements);
    static constexpr int most_blocks = 8;  ///< of a cluster, on any device that has them
    static constexpr int log_lanes =
        5;  ///< rows that make whole sectors, and columns that a warp reads along a row
    static constexpr int log_most_rows = 9;
};

/// How the elements of x and y lie: whether neighbours in memory are of one column.
struct strip_layout {
    bool x_in_columns;
    bool y_in_columns;
    int element_bytes;
};

inline strip_plan plan_strips(std::int64_t rows, std::int64_t cols, const strip_layout& layout, int sm_count,
                              bool has_clusters) {
    using limits = strip_limits;
    constexpr int least_bytes = 8;  // of a column: a quarter of a sector
    constexpr int waves = 4;        // the last one is seldom full
    const auto strips_of = [&](int log_rows) { return ((rows - 1) >> log_rows) + 1; };
    const auto cols_of = [](int log_rows) { return std::int64_t{1} << (limits::log_tile - log_rows); };

    int log_rows = 0;
    if (layout.x_in_columns || layout.y_in_columns) {
        while (log_rows < limits::log_lanes && strips_of(log_rows) > 1) ++log_rows;
        // Where rows are few, strips are narrower than sectors, so that more SMs have some.
        while ((layout.element_bytes << log_rows) > least_bytes && cols_of(log_rows) < cols &&
               strips_of(log_rows) * limits::most_blocks < sm_count)
            --log_rows;
    }
    while (log_rows < limits::log_most_rows && cols_of(log_rows) / 2 >= cols) ++log_rows;

    const std::int64_t strips = strips_of(log_rows);
    const bool has_long_rows = log_rows <= limits::log_tile - limits::log_lanes;
    std::int64_t cluster = 1;
    while (has_clusters && cluster < limits::most_blocks && cluster * cols_of(log_rows) < cols &&
           strips * cluster < std::int64_t{waves} * limits::blocks_per_sm * sm_count)
        cluster *= 2;
    return {.log_rows = log_rows,
            .reads_rows = has_long_rows && !layout.x_in_columns,
            .writes_rows = has_long_rows && !layout.y_in_columns,
            .blocks = strips * cluster,
            .cluster = cluster};
}

}  // namespace heddle::kernels
