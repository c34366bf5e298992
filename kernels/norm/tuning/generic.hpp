#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::norm {

/// How the gradients share out rows and columns.
struct gradient_sharing {
    /// Registers bound a vectorized block's threads; as many on a multiprocessor keep it full.
    static constexpr int threads_per_sm = 512;
    static constexpr int block_threads = 256;  ///< where rows are short enough for several blocks
    /// Rows under way beside the one in registers, for elements of so many bytes: what memory needs to be busy.
    static constexpr int stages(std::size_t element_bytes) { return element_bytes == 2 ? 3 : 2; }
    /// The most threads of a block that has its rows alone; longer rows are a cluster's.
    static constexpr std::int64_t lone_threads = 512;
    /// Clusters of so many blocks that are to run at once, where a multiprocessor has room for `per_sm` blocks. Each lies
    /// within a GPC, which has seven to nine pairs of multiprocessors: room for a multiple of 2 per_sm blocks, not always of a
    /// cluster's. Seven eighths are an estimate, not certain: seven pairs have room for one cluster of eight at one block a
    /// multiprocessor. A cluster that waits for another to end doubles the time.
    static constexpr std::int64_t clusters_at_once(std::int64_t sm_count, std::int64_t per_sm,
                                                   std::int64_t blocks) {
        const std::int64_t places = sm_count * per_sm;
        return (2 * per_sm % blocks == 0 ? places : places * 7 / 8) / blocks;
    }
    static constexpr std::int64_t column_blocks_per_sm = 8;  ///< that add up the columns of block_per_row
    static constexpr std::int64_t least_rows = 16;           ///< of a warp of these
};

}  // namespace heddle::kernels::norm
