#pragma once

#include "kernels/device/clusters.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels {

/// Launches a kernel that begins, up to its wait (ptx/grid_dependency.cuh), while the one before still runs.
template <class... Parameters, class... Arguments>
void launch_after(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, std::size_t shared_bytes,
                  const device_traits& device, cudaStream_t stream, const Arguments&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs =
        waits_for_grids(device.compute_capability_major, device.compute_capability_minor) ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

/// Shared memory that CUDA keeps for itself, for each resident block.
inline constexpr std::int64_t shared_bytes_reserved = 1024;

/// Shared memory of a block, as much as it takes that a multiprocessor holds `blocks` of them and no more. Blocks that begin
/// early fill what room there is beside the kernel before them: where it is for more than were planned for, some
/// multiprocessors get those, and others too few. 0 where none begins early.
inline std::int64_t shared_bytes_of_one_of(std::int64_t blocks, const device_traits& device) {
    constexpr std::int64_t granularity = 128;
    if (!waits_for_grids(device.compute_capability_major, device.compute_capability_minor)) return 0;
    return static_cast<std::int64_t>(device.shared_memory_per_sm) / (blocks + 1) - shared_bytes_reserved +
           granularity;
}

}  // namespace heddle::kernels
