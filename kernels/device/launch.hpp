#pragma once

#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

namespace heddle::kernels {

/// The extents of a grid in blocks, or of a block in threads.
struct launch_extents {
    std::int64_t x;
    std::int64_t y = 1;
    std::int64_t z = 1;
};

struct launch_config {
    launch_extents blocks;
    launch_extents threads;
    /// Dynamic shared memory of a block, in bytes.
    std::size_t shared_bytes = 0;
    /// The most dynamic shared memory that the kernel ever asks for, in bytes. It is stated where that may exceed the 48 KB,
    /// less static memory, that every kernel has. CUDA keeps this limit per kernel and device. So all launches of a kernel
    /// state the same limit, and none lowers it under another thread's launch.
    std::size_t shared_limit = 0;
    cudaStream_t stream = nullptr;
    /// Blocks of a cluster, along x. More than 1 needs a device with clusters (clusters.hpp). All such devices run 8; for more,
    /// launch() asks the runtime to allow it.
    std::int64_t cluster = 1;
    /// Whether the kernel may begin while the previous one still runs; it runs up to its wait (ptx/grid_dependency.cuh). Only
    /// on devices where it waits (early_launch.hpp).
    bool begins_early = false;
    /// The place in the source that an error names.
    std::source_location where = std::source_location::current();
};

/// Launches kernel(arguments...). The arguments convert to the kernel's parameters as in a call.
/// @throws cuda_error  with the status of this launch, whatever error an earlier call left in the thread
template <class... Parameters>
void launch(const launch_config& config, void (*kernel)(Parameters...),
            const std::type_identity_t<Parameters>&... arguments) {
    const auto narrow = [&config](std::int64_t extent) {
        if (!std::in_range<unsigned>(extent)) check(cudaErrorInvalidConfiguration, config.where);
        return static_cast<unsigned>(extent);
    };
    const auto narrow_all = [&narrow](const launch_extents& extents) {
        return dim3(narrow(extents.x), narrow(extents.y), narrow(extents.z));
    };
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t launch{};
    launch.gridDim = narrow_all(config.blocks);
    launch.blockDim = narrow_all(config.threads);
    launch.dynamicSmemBytes = config.shared_bytes;
    launch.stream = config.stream;
    launch.attrs = attributes;
    if (config.begins_early) {
        cudaLaunchAttribute& attribute = attributes[launch.numAttrs++];
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    if (config.cluster != 1) {  // even a cluster of one block costs time
        cudaLaunchAttribute& attribute = attributes[launch.numAttrs++];
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {narrow(config.cluster), 1, 1};
    }

    const auto* const function = reinterpret_cast<const void*>(kernel);
    if (config.shared_limit > 0)
        check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(config.shared_limit)),
              config.where);
    constexpr std::int64_t portable_cluster = 8;
    if (config.cluster > portable_cluster)
        check(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
              config.where);
    void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
    check(cudaLaunchKernelExC(&launch, function, addresses), config.where);
}

}  // namespace heddle::kernels
