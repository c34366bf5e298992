#pragma once

namespace heddle::kernels::histogram {

/// The limits by which histograms of many bins are planned, by hand, for a Hopper GPU. Times are in microseconds.
struct rates {
    static constexpr double sm_bytes = 32e3;         ///< that the blocks of a multiprocessor read in one
    static constexpr double additions = 100e3;       ///< that L2 makes in one, to as many sectors
    static constexpr double counts_of_sector = 4;    ///< neighbouring counts that a warp adds at once
    static constexpr double round_of_counts = 0.04;  ///< to clear and read a count in each thread of a block
};

}  // namespace heddle::kernels::histogram
