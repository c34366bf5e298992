#pragma once

namespace heddle::kernels::matrix_reduce {

/// Who takes a row, by how many packets of 16 bytes it has. Chosen by measurement on Hopper GPUs.
struct row_sharing {
    /// Up to so many bytes a thread, where rows are not of whole packets; or elements of rows that lie across.
    static constexpr int thread_bytes = 128;
    static constexpr int thread_elements_across = 8;
    static constexpr int short_packets = 64;     ///< up to so many a warp, or some of its lanes
    static constexpr int middle_packets = 256;   ///< the same, where there are many rows
    static constexpr int many_rows_per_sm = 32;  ///< on each multiprocessor
    static constexpr int lone_packets = 4096;    ///< up to so many one block; more of few rows, several
    static constexpr int tiles_to_share = 8;     ///< that each of several blocks must have to pay
    static constexpr int waves = 4;              ///< of blocks on the device, at most
};

}  // namespace heddle::kernels::matrix_reduce
