#pragma once

#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/shared_address.cuh"
#include "kernels/device/ptx/sync.cuh"

#include <cuda_runtime_api.h>

/// Thread-block clusters (compute capability 9.0). On older devices a cluster is the block alone. The threads of a warp
/// arrive and wait together.
namespace heddle::kernels::ptx {

/// The block's rank in its cluster.
__device__ inline unsigned cluster_rank() {
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/// The number of blocks of the cluster; 1 where the kernel was launched without clusters.
__device__ inline unsigned cluster_blocks() {
    unsigned blocks = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
#endif
    return blocks;
}

/// The cluster's index in the grid, along x.
__device__ inline unsigned cluster_id() {
    unsigned id = blockIdx.x;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
#endif
    return id;
}

/// The number of clusters of the grid, along x.
__device__ inline unsigned cluster_count() {
    unsigned count = gridDim.x;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
#endif
    return count;
}

/// Tells the cluster's other blocks that this thread runs. There is no fence: it does not publish what the thread wrote.
__device__ inline void cluster_arrive_relaxed() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
    delay();
}

/// Tells the cluster's other blocks that this thread has arrived. Threads that wait see what it wrote before.
__device__ inline void cluster_arrive() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
    delay();
}

/// Waits until every thread of the cluster has arrived.
__device__ inline void cluster_wait() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
    delay();
}

/// A barrier of all threads of a cluster of `blocks` blocks. With more than one block it does not publish writes.
template <int blocks>
__device__ void sync_cluster() {
    if constexpr (blocks > 1) {
        cluster_arrive_relaxed();
        cluster_wait();
    } else {
        sync_threads();
    }
}

/// The address in block `rank` of the cluster that corresponds to `shared` in this block, for store_at_block().
__device__ inline unsigned address_at_block([[maybe_unused]] const void* shared,
                                            [[maybe_unused]] unsigned rank) {
    unsigned address = 0;
#if __CUDA_ARCH__ >= 900
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(shared)), "r"(rank));
#endif
    return address;
}

/// Other blocks see the value after cluster_arrive().
__device__ inline void store_at_block([[maybe_unused]] unsigned address,
                                      [[maybe_unused]] const float4& value) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value.x),
                 "f"(value.y), "f"(value.z), "f"(value.w)
                 : "memory");
#endif
}

/// Writes to the place in block `rank` of the cluster that corresponds to `shared` in this block.
__device__ inline void store_cluster([[maybe_unused]] float* shared, [[maybe_unused]] unsigned rank,
                                     [[maybe_unused]] float value) {
    delay();
#if __CUDA_ARCH__ >= 900
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(shared)), "r"(rank));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
#endif
}

/// Reads the place in block `rank` of the cluster that corresponds to `shared` in this block.
__device__ inline float load_cluster([[maybe_unused]] const float* shared, [[maybe_unused]] unsigned rank) {
    delay();
    float value = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.f32 %0, [%1];"
                 : "=f"(value)
                 : "r"(address_at_block(shared, rank))
                 : "memory");
#endif
    return value;
}

}  // namespace heddle::kernels::ptx
