#pragma once

#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

/// Messages between the blocks of a cluster (compute capability 9.0) that are data and signal in one. A message stores to
/// another block's shared memory, and a barrier there counts its bytes. Neither side needs a fence.
namespace heddle::kernels::ptx {

/// One thread of the receiving block calls this before its cluster_arrive_relaxed(). The barrier serves once.
__device__ inline void expect_messages(mbarrier* barrier, unsigned bytes) {
    init(barrier, 1);
    fence_mbarrier_init();
    arrive_and_expect(barrier, bytes);
}

/// Writes 16 bytes to the place in block `rank` of the cluster that corresponds to `shared` in this block. The barrier at
/// the same place there counts them.
__device__ inline void send_message([[maybe_unused]] void* shared, [[maybe_unused]] unsigned rank,
                                    [[maybe_unused]] std::uint64_t low, [[maybe_unused]] std::uint64_t high,
                                    [[maybe_unused]] mbarrier* barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .b32 place, signal;\n"
        "mapa.shared::cluster.u32 place, %0, %2;\n"
        "mapa.shared::cluster.u32 signal, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [place], {%3, %4}, [signal];\n"
        "}" ::"r"(shared_address(shared)),
        "r"(shared_address(barrier)), "r"(rank), "l"(low), "l"(high)
        : "memory");
#endif
}

__device__ inline void send_message(float4* shared, unsigned rank, const float4& value, mbarrier* barrier) {
    const auto pair = [](float low, float high) {
        return std::uint64_t{__float_as_uint(high)} << 32 | __float_as_uint(low);
    };
    send_message(shared, rank, pair(value.x, value.y), pair(value.z, value.w), barrier);
}

/// Waits until this thread can read all messages of the phase of this parity: 0 for the first, 1 for the second, ...
__device__ inline void wait_for_messages([[maybe_unused]] mbarrier* barrier,
                                         [[maybe_unused]] unsigned parity = 0) {
    delay();
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
#endif
    delay();
}

}  // namespace heddle::kernels::ptx
