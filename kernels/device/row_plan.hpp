#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/warp.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle::kernels {

/// How the rows of a matrix are distributed: which threads hold a row, and where. Pure.
struct row_plan {
    enum class holder {
        lanes,    ///< a warp or a part of one, in registers
        block,    ///< a block or a cluster of blocks, in registers
        streamed  ///< a block or a cluster of blocks, which reads the row twice
    };

    holder kind = holder::lanes;
    int elements = 0;  ///< elements that a thread holds at a time
    launch_extents threads{1};
    std::int64_t blocks = 1;
    std::int64_t cluster = 1;  ///< blocks that share a row
};

/// Constants that the plan and the kernels share.
struct row_limits {
    static constexpr int lanes_threads = 256;
    static constexpr int block_threads = 512;  // several blocks an SM: one loads while another stores
    static constexpr int usual_blocks = 8;     // of a cluster: every device with clusters runs these
    static constexpr int most_blocks = 16;     // for kernels that ask the runtime for more
    static constexpr int medium_elements = 16;
    static constexpr int large_elements = 32;
    static constexpr int packed_elements =
        64;  // elements of 16 bits, two a register; only for rows that a block holds

    /// Elements of a thread for the shortest rows: one packet, or four elements that are loaded one by one.
    static constexpr int small_elements(int width) { return std::max(width, 4); }
};

/// Whether plan_rows() gives every row that lanes hold in this way a whole warp.
template <int width, int elements>
inline constexpr bool has_whole_warps = elements == row_limits::large_elements ||
                                        (width == 1 && elements == row_limits::medium_elements);

/// Plans rows of `cols` elements in packets of `width`, which divides cols. `most_elements` is the most that a thread
/// holds, and `most_blocks` the most blocks of a cluster; both are constants of row_limits. Packed elements halve the
/// threads of a row. They are used where each multiprocessor has a row, or where no cluster could hold the row otherwise.
inline row_plan plan_rows(std::int64_t rows, std::int64_t cols, int width, int sm_count, bool has_clusters,
                          int most_elements = row_limits::large_elements,
                          int most_blocks = row_limits::usual_blocks) {
    using limits = row_limits;
    const int most_of_lane = std::min(most_elements, limits::large_elements);
    if (cols <= std::int64_t{warp_size} * most_of_lane) {
        // The packets of eight lanes fill a line of 128 bytes, which is enough where a lane has several packets.
        const int small = limits::small_elements(width);
        const int few_lanes = width > 1 ? 8 : warp_size;
        int elements = most_of_lane;
        if (cols <= std::int64_t{few_lanes} * small)
            elements = small;
        else if (cols <= std::int64_t{warp_size} * limits::medium_elements)
            elements = limits::medium_elements;
        std::int64_t lanes = power_at_least(divide_up(cols, elements));
        if (elements > small) lanes = std::max<std::int64_t>(lanes, few_lanes);
        const std::int64_t rows_per_block = limits::lanes_threads / lanes;
        return {row_plan::holder::lanes, elements, {lanes, rows_per_block}, divide_up(rows, rows_per_block)};
    }

    if (!has_clusters) most_blocks = 1;
    if (rows < sm_count && cols <= std::int64_t{most_of_lane} * limits::block_threads * most_blocks)
        most_elements = most_of_lane;

    const auto plan_of = [&](row_plan::holder kind, int elements, std::int64_t blocks) {
        const std::int64_t threads = round_up(divide_up(cols, elements * blocks), warp_size);
        return row_plan{
            kind, elements, {std::min<std::int64_t>(threads, limits::block_threads)}, rows * blocks, blocks};
    };
    for (const int elements : {limits::medium_elements, most_elements})
        if (elements <= most_elements && cols <= std::int64_t{elements} * limits::block_threads)
            return plan_of(row_plan::holder::block, elements, 1);
    // Blocks have half the threads while the usual number of blocks suffices: more clusters then load while others store.
    const int usual_blocks = std::min(most_blocks, limits::usual_blocks);
    for (const auto& [threads, most] :
         {std::pair{limits::block_threads / 2, usual_blocks}, {limits::block_threads, most_blocks}}) {
        const std::int64_t blocks = power_at_least(divide_up(cols, std::int64_t{most_elements} * threads));
        if (blocks <= most) return plan_of(row_plan::holder::block, most_elements, blocks);
    }

    // Where rows are few, each gets a cluster of blocks, so that all multiprocessors are busy.
    std::int64_t blocks = 1;
    while (blocks < usual_blocks && rows * blocks < 4 * std::int64_t{sm_count}) blocks *= 2;
    return plan_of(row_plan::holder::streamed, limits::medium_elements, blocks);
}

}  // namespace heddle::kernels
