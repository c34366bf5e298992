#pragma once

#include <cuda_runtime_api.h>

#include <cstring>

namespace heddle::kernels::ptx {

/// Loads 16 aligned bytes that nothing writes while the kernel runs, past L1: they are read once.
template <class Packet>
__device__ Packet load_streaming(const Packet* address) {
    static_assert(sizeof(Packet) == 16);
    uint4 words;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
        : "l"(__cvta_generic_to_global(address)));
    Packet packet;
    std::memcpy(&packet, &words, sizeof(packet));
    return packet;
}

}  // namespace heddle::kernels::ptx
