#pragma once

#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_runtime_api.h>

/// Operations of some warps of a block apart from the others (compute capability 9.0a; barriers of some threads 7.0).
namespace heddle::kernels::ptx {

/// Changes this warpgroup's registers to `registers` a thread: gives some back to the block, or claims such.
template <int registers>
__device__ inline void release_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers>
__device__ inline void claim_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// blockIdx.x, read again at each call: ptxas would spill a value kept across a change of registers.
__device__ inline int block_index() {
    int index = 0;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
}

/// A barrier of `threads` threads of the block. Barrier 0 is the one of sync_threads().
__device__ inline void sync_threads(int barrier, int threads) {
    delay();
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
    delay();
}

/// Arrives at the same barrier without waiting for the other warps.
__device__ inline void arrive_threads(int barrier, int threads) {
    delay();
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
    delay();
}

/// Stores four 8 x 8 matrices of 16-bit elements. Thread t gives the address of row t % 8 of matrix t / 8. Its register i
/// holds elements 2 (t % 4) and the next one of row t / 4 of matrix i, or of its transpose where `transposed`.
template <bool transposed = false>
__device__ inline void store_matrices(void* row, unsigned a, unsigned b, unsigned c, unsigned d) {
    if constexpr (transposed)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         shared_address(row)),
                     "r"(a), "r"(b), "r"(c), "r"(d)
                     : "memory");
    else
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
            "r"(a), "r"(b), "r"(c), "r"(d)
            : "memory");
}

}  // namespace heddle::kernels::ptx
