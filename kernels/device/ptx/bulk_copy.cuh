#pragma once

#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

/// Copies of many bytes from global to shared memory that one thread starts and the hardware carries out (compute
/// capability 9.0). A barrier counts the bytes of each; it may be used again and again, its phases alternate.
namespace heddle::kernels::ptx {

/// By one thread, before a __syncthreads().
__device__ inline void init_barrier([[maybe_unused]] std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// Addresses and bytes are multiples of 16. The barrier expects the bytes already.
__device__ inline void bulk_copy([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                 [[maybe_unused]] unsigned bytes, [[maybe_unused]] std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(shared)),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
#endif
}

/// The same, and tells the barrier to expect the bytes.
__device__ inline void start_bulk_copy([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                       [[maybe_unused]] unsigned bytes,
                                       [[maybe_unused]] std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
    bulk_copy(shared, global, bytes, barrier);
#endif
}

/// To the place in block `rank` of the cluster that `shared` has in this one, counted at the barrier that is there.
__device__ inline void bulk_copy_to_block([[maybe_unused]] const void* shared,
                                          [[maybe_unused]] unsigned bytes,
                                          [[maybe_unused]] std::uint64_t* barrier,
                                          [[maybe_unused]] unsigned rank) {
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

/// What this thread read or wrote of shared memory comes before copies to it that are started behind a barrier that
/// follows: they go another way than loads and stores do, and a barrier alone does not order the two.
__device__ inline void fence_before_bulk_copies() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Waits for the end of a phase of this parity: 0 of the first, 1 of the second, ...
__device__ inline void wait_barrier([[maybe_unused]] std::uint64_t* barrier,
                                    [[maybe_unused]] unsigned parity) {
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
}

}  // namespace heddle::kernels::ptx
