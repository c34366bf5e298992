#pragma once

#include "kernels/device/ptx/delay.cuh"

#include <cuda_runtime.h>

/// Atomic operations on one number in shared or global memory. relaxed.cuh has those for global memory only.
namespace heddle::kernels::ptx {

/// *number += value, with no order to anything else.
template <class T>
__device__ void atomic_add(T* number, T value) {
    delay();
    atomicAdd(number, value);
}

/// *number = value, with no order to anything else.
template <class T>
__device__ void atomic_exchange(T* number, T value) {
    delay();
    atomicExch(number, value);
}

/// Returns *counter and sets it to (*counter == last ? 0 : *counter + 1). The order holds for the whole device: a thread
/// that increments later sees everything this thread wrote before.
__device__ inline unsigned atomic_increment(unsigned* counter, unsigned last) {
    delay();
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(counter)), "r"(last)
                 : "memory");
    delay();
    return before;
}

}  // namespace heddle::kernels::ptx
