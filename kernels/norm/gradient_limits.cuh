#pragma once

#include "kernels/device/warp_reduce.cuh"

#include <cstdint>

namespace heddle::kernels::norm {

/// Numbers that gradient_vectorized's plan and kernel share.
struct gradient_limits {
    static constexpr int elements = 16;  ///< of a row, in each thread
    static constexpr int threads = 512;  ///< of a block, at most
    static constexpr int warps = threads / warp_size;
    static constexpr int warp_elements = warp_size * elements;
    static constexpr std::int64_t cols = std::int64_t{threads} * elements;
    static constexpr int cluster = 8;  ///< blocks that share a row, at most, on any device that has clusters
    static constexpr int least_lanes = 4;
    static constexpr std::int64_t rows = 4096;  ///< that one float adds up
    static constexpr std::int64_t static_bytes = 1024;
};

}  // namespace heddle::kernels::norm
