#pragma once

#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_runtime_api.h>

/// Bulk copies to shared memory, from global memory or from another block's shared memory (compute capability 9.0). One
/// thread starts a copy, and the hardware carries it out. A barrier (mbarrier.cuh) counts its bytes.
namespace heddle::kernels::ptx {

/// Addresses and the number of bytes are multiples of 16. The barrier must already expect the bytes.
__device__ inline void bulk_copy([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                 [[maybe_unused]] unsigned bytes, [[maybe_unused]] mbarrier* barrier) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(shared)),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
#endif
}

/// The same, and tells the barrier to expect the bytes.
__device__ inline void start_bulk_copy(void* shared, const void* global, unsigned bytes, mbarrier* barrier) {
    arrive_and_expect(barrier, bytes);
    bulk_copy(shared, global, bytes, barrier);
}

/// Proof that this thread has called fence_before_copies(). Copies out of shared memory require it.
class ordered_before_copies {
  public:
    /// For places where no copy will follow.
    static __device__ ordered_before_copies nothing() { return {}; }

  private:
    ordered_before_copies() = default;
    friend __device__ ordered_before_copies fence_before_copies();
};

/// Orders this thread's reads and writes of shared memory before bulk copies and wgmma that start after a later barrier.
/// These use another path to memory (the async proxy), which a barrier alone does not order.
__device__ inline ordered_before_copies fence_before_copies() {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    delay();
    return {};
}

/// Copies `shared` to the same place in block `rank` of the cluster. The barrier at the same place there counts the bytes.
__device__ inline void bulk_copy_to_block([[maybe_unused]] const void* shared,
                                          [[maybe_unused]] unsigned bytes, [[maybe_unused]] mbarrier* barrier,
                                          [[maybe_unused]] unsigned rank, ordered_before_copies) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .b32 place, signal;\n"
        "mapa.shared::cluster.u32 place, %0, %3;\n"
        "mapa.shared::cluster.u32 signal, %2, %3;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [place], [%0], %1, "
        "[signal];\n"
        "}" ::"r"(shared_address(shared)),
        "r"(bytes), "r"(shared_address(barrier)), "r"(rank)
        : "memory");
#endif
}

}  // namespace heddle::kernels::ptx
