#pragma once

#include "kernels/device/ptx/delay.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

/// Loads, stores and atomics that other blocks see while the kernel runs.
namespace heddle::kernels::ptx {

/// Two 8-byte halves that are always loaded and stored together.
struct alignas(16) wide_word {
    std::uint64_t low;
    std::uint64_t high;
};

__device__ inline std::uint64_t load_relaxed(const std::uint64_t* address) {
    delay();
    std::uint64_t value;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    delay();
    return value;
}

/// Uses .b128, which is one access; .v2.b64 would be two (PTX ISA 8.3, compute capability 7.0).
__device__ inline wide_word load_relaxed(const wide_word* address) {
    delay();
    wide_word value;
    asm volatile(
        "{\n"
        ".reg .b128 both;\n"
        "ld.relaxed.gpu.global.b128 both, [%2];\n"
        "mov.b128 {%0, %1}, both;\n"
        "}"
        : "=l"(value.low), "=l"(value.high)
        : "l"(__cvta_generic_to_global(address))
        : "memory");
    delay();
    return value;
}

__device__ inline void store_relaxed(std::uint64_t* address, std::uint64_t value) {
    delay();
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)), "l"(value)
                 : "memory");
    delay();
}

__device__ inline void store_relaxed(wide_word* address, wide_word value) {
    delay();
    asm volatile(
        "{\n"
        ".reg .b128 both;\n"
        "mov.b128 both, {%1, %2};\n"
        "st.relaxed.gpu.global.b128 [%0], both;\n"
        "}" ::"l"(__cvta_generic_to_global(address)),
        "l"(value.low), "l"(value.high)
        : "memory");
    delay();
}

/// Afterwards this thread sees what was written before the store or atomic whose value it read.
__device__ inline unsigned load_acquire(const unsigned* address) {
    delay();
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    delay();
    return value;
}

/// *counter += value. A thread that acquires the result sees what this thread wrote before.
__device__ inline void add_release(unsigned* counter, unsigned value) {
    delay();
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(counter)),
                 "r"(value)
                 : "memory");
    delay();
}

/// *address = value, with no order to anything else.
__device__ inline void store_relaxed(unsigned* address, unsigned value) {
    delay();
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)), "r"(value)
                 : "memory");
    delay();
}

/// Returns *counter and sets it to (*counter == last ? 0 : *counter + 1), with no order to anything else.
__device__ inline unsigned atomic_increment_relaxed(unsigned* counter, unsigned last) {
    delay();
    unsigned before;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(counter)), "r"(last)
                 : "memory");
    delay();
    return before;
}

}  // namespace heddle::kernels::ptx
