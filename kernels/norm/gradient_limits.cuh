#pragma once

#include "kernels/device/warp_reduce.cuh"

#include <cstdint>

namespace heddle::kernels::norm {

/// Numbers that gradient_vectorized's plan and kernel share.
struct gradient_limits {
    static constexpr int elements = 16;  ///< elements of a row per thread
    static constexpr int threads = 512;  ///< most threads per block
    static constexpr int warps = threads / warp_size;
    static constexpr int warp_elements = warp_size * elements;
    static constexpr std::int64_t cols = std::int64_t{threads} * elements;
    static constexpr int cluster = 8;  ///< most blocks that share a row, on any device that has clusters
    static constexpr int least_lanes = 4;
    static constexpr std::int64_t rows = 4096;  ///< most rows that one float adds up
    static constexpr std::int64_t static_bytes = 1024;
};

}  // namespace heddle::kernels::norm
