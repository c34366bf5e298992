#pragma once

#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_runtime_api.h>

/// What the warps of a block do apart from one another (compute capability 9.0a; barriers of some of its threads 7.0).
namespace heddle::kernels::ptx {

/// Gives registers of this warpgroup back to the block, or takes from what others gave: to `registers` a thread.
template <int registers>
__device__ inline void release_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers>
__device__ inline void claim_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// blockIdx.x, read where it stands: ptxas spills what it keeps across a change of registers.
__device__ inline int block_index() {
    int index = 0;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
}

/// A barrier of `threads` threads of the block. Barrier 0 is sync_threads()'s.
__device__ inline void sync_threads(int barrier, int threads) {
    delay();
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
    delay();
}

/// The same, for a warp that does not wait for the others.
__device__ inline void arrive_threads(int barrier, int threads) {
    delay();
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
    delay();
}

/// Stores four 8 x 8 matrices of 16-bit elements: thread t gives the address of row t % 8 of matrix t / 8, and in
/// register i the elements 2 (t % 4) and the next of row t / 4 of matrix i; of its transpose where `transposed`.
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
