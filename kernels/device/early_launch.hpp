#pragma once

#include "kernels/device/clusters.hpp"
#include <heddle/device.hpp>

#include <cstdint>

namespace heddle::kernels {

/// Whether a kernel may begin before the one before it has ended: only where its wait for that one
/// (ptx/grid_dependency.cuh) is compiled, as clusters are.
inline bool waits_for_grids(const device_traits& device) {
    return has_clusters(device.compute_capability_major, device.compute_capability_minor);
}

/// Shared memory that CUDA keeps for itself, for each resident block.
inline constexpr std::int64_t shared_bytes_reserved = 1024;

/// Shared memory of a block, as much as it takes that a multiprocessor holds `blocks` of them and no more. Blocks that begin
/// early fill what room there is beside the kernel before them: where it is for more than were planned for, some
/// multiprocessors get those, and others too few. 0 where none begins early.
inline std::int64_t shared_bytes_of_one_of(std::int64_t blocks, const device_traits& device) {
    constexpr std::int64_t granularity = 128;
    if (!waits_for_grids(device)) return 0;
    return static_cast<std::int64_t>(device.shared_memory_per_sm) / (blocks + 1) - shared_bytes_reserved +
           granularity;
}

}  // namespace heddle::kernels
