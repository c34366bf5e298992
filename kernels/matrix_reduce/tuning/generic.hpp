#pragma once

namespace heddle::kernels::matrix_reduce {

/// How many threads take a row, by its number of 16-byte packets. Chosen by measurement on Hopper GPUs.
struct row_sharing {
    /// A thread takes rows up to these sizes: bytes where rows have cut packets, elements where they lie across.
    static constexpr int thread_bytes = 128;
    static constexpr int thread_elements_across = 8;
    static constexpr int short_packets = 64;     ///< most packets of a row for a warp or fewer lanes
    static constexpr int middle_packets = 256;   ///< the same, where there are many rows
    static constexpr int many_rows_per_sm = 32;  ///< least rows per multiprocessor that are many
    static constexpr int lone_packets = 4096;    ///< most for one block; few longer rows get several
    static constexpr int tiles_to_share = 8;     ///< least tiles per block where blocks share rows
    static constexpr int waves = 4;              ///< most waves of blocks on the device
};

}  // namespace heddle::kernels::matrix_reduce
