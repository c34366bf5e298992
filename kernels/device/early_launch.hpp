#pragma once

#include "kernels/device/clusters.hpp"
#include <heddle/device.hpp>

#include <cstdint>

namespace heddle::kernels {

/// Whether a kernel may begin before the previous one has ended. It may only where its wait for that kernel
/// (ptx/grid_dependency.cuh) is compiled in, as for clusters.
inline bool waits_for_grids(const device_traits& device) {
    return has_clusters(device.compute_capability_major, device.compute_capability_minor);
}

/// Shared memory that CUDA reserves for each resident block.
inline constexpr std::int64_t shared_bytes_reserved = 1024;

/// The least shared memory of a block with which a multiprocessor holds at most `blocks` of them. Blocks that begin early
/// fill the room beside the previous kernel. Where that room holds more blocks than planned, some multiprocessors get
/// those, and others get too few. 0 where no block begins early.
inline std::int64_t shared_bytes_of_one_of(std::int64_t blocks, const device_traits& device) {
    constexpr std::int64_t granularity = 128;
    if (!waits_for_grids(device)) return 0;
    return static_cast<std::int64_t>(device.shared_memory_per_sm) / (blocks + 1) - shared_bytes_reserved +
           granularity;
}

}  // namespace heddle::kernels
