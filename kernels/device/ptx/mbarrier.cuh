#pragma once

#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

/// Barriers in shared memory that count arrivals and bytes (compute capability 9.0; no effect on older devices). A phase ends
/// when the set number of arrivals has come and no expected byte is missing. The next phase begins at once.
namespace heddle::kernels::ptx {

using mbarrier = std::uint64_t;

/// One thread calls this, before fence_mbarrier_init() and a barrier of all threads that use it.
__device__ inline void init([[maybe_unused]] mbarrier* barrier, [[maybe_unused]] unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
#endif
    delay();
}

/// Makes initialised barriers visible to the cluster's blocks and to bulk copies.
__device__ inline void fence_mbarrier_init() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    delay();
}

__device__ inline void arrive([[maybe_unused]] mbarrier* barrier) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
#endif
    delay();
}

/// Arrives at the same barrier of block `rank` of the cluster. It does not publish this thread's writes: a release to the
/// cluster would cost a fence of the whole device.
__device__ inline void arrive_at_block([[maybe_unused]] mbarrier* barrier, [[maybe_unused]] unsigned rank) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(rank)
        : "memory");
#endif
    delay();
}

/// Arrives, and adds `bytes` to the bytes that the phase waits for.
__device__ inline void arrive_and_expect([[maybe_unused]] mbarrier* barrier,
                                         [[maybe_unused]] unsigned bytes) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
#endif
    delay();
}

/// Arrives once this thread's cp.async copies so far have completed.
__device__ inline void arrive_after_copies([[maybe_unused]] mbarrier* barrier) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
                 : "memory");
#endif
}

/// Waits for the end of the phase of this parity: 0 for the first phase, 1 for the second, ... Before the first phase ends,
/// parity 1 does not wait.
__device__ inline void wait([[maybe_unused]] mbarrier* barrier, [[maybe_unused]] unsigned parity) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
#endif
    delay();
}

}  // namespace heddle::kernels::ptx
