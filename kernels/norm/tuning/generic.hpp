#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::norm {

/// How the gradients share out rows and columns.
struct gradient_sharing {
    /// Threads of gradient_vectorized that fill a multiprocessor: its registers allow no more.
    static constexpr int threads_per_sm = 512;
    static constexpr int block_threads = 256;  ///< where several blocks fit on a multiprocessor
    /// Rows under way beside the one in registers, by the bytes of an element: these keep memory busy.
    static constexpr int stages(std::size_t element_bytes) { return element_bytes == 2 ? 3 : 2; }
    /// The most threads of a block that does not share its rows; a cluster takes longer rows.
    static constexpr std::int64_t lone_threads = 512;
    /// How many clusters of `blocks` blocks run at once, where a multiprocessor has room for `per_sm` blocks. A cluster lies
    /// within a GPC, which has seven to nine pairs of multiprocessors. So a GPC has room for a multiple of 2 per_sm blocks,
    /// but not always of `blocks`. Seven eighths are an estimate: at one block per multiprocessor, seven pairs have room
    /// for only one cluster of eight. A cluster that waits for another to end doubles the time.
    static constexpr std::int64_t clusters_at_once(std::int64_t sm_count, std::int64_t per_sm,
                                                   std::int64_t blocks) {
        const std::int64_t places = sm_count * per_sm;
        return (2 * per_sm % blocks == 0 ? places : places * 7 / 8) / blocks;
    }
    static constexpr std::int64_t column_blocks_per_sm = 8;  ///< blocks that add up columns for block_per_row
    static constexpr std::int64_t least_rows = 16;           ///< per warp of these blocks
};

}  // namespace heddle::kernels::norm
