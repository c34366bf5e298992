#pragma once

#include "benchmarks/ceilings/kernels.hpp"

namespace heddle::bench {

/// The next 32 bits of operands of tensor cores: numbers of both signs from 1/8 to 2. Zeros and small integers would draw less
/// power than data do.
template <tensor_type type>
__device__ unsigned random_word(unsigned& state) {
    state = state * 1664525u + 1013904223u;
    const unsigned bits = state ^ state >> 16;
    // Signs and digits, and of the exponent the lower two bits.
    if constexpr (type == tensor_type::f16) return (bits & 0x8fff8fffu) | 0x30003000u;
    if constexpr (type == tensor_type::bf16) return (bits & 0x81ff81ffu) | 0x3e003e00u;
    return (bits & 0x81ffffffu) | 0x3e000000u;
}

/// Where a thread's words begin.
__device__ inline unsigned random_seed() {
    return (blockIdx.x * blockDim.x + threadIdx.x + 1) * 0x9e3779b9u;
}

}  // namespace heddle::bench
