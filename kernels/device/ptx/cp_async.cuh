#pragma once

#include "kernels/device/ptx/delay.cuh"

namespace heddle::kernels::ptx {

enum class cache { all_levels, l2 };

/// Starts a copy of `bytes` bytes, 4, 8 or 16, from global to shared memory (compute capability 8.0). It reads only the
/// first `valid` bytes, which may be 0, and fills the others with zeros. CUDA's __pipeline_memcpy_async branches on the
/// number of bytes for this. cache::l2, for 16 bytes only, keeps data out of L1 that a block reads once.
template <int bytes, cache where = bytes == 16 ? cache::l2 : cache::all_levels>
__device__ inline void cp_async(void* shared, const void* global, int valid) {
    static_assert(bytes == 16 || ((bytes == 4 || bytes == 8) && where == cache::all_levels));
    const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (where == cache::l2)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(valid)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(global), "n"(bytes),
                     "r"(valid)
                     : "memory");
}

/// Starts a copy of 4 or 8 bytes where `is_wanted`. A predicate of the instruction costs less than a branch around it.
template <int bytes>
__device__ inline void cp_async_if(bool is_wanted, void* shared, const void* global) {
    static_assert(bytes == 4 || bytes == 8);
    const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile(
        "{\n"
        ".reg .pred is_wanted;\n"
        "setp.ne.s32 is_wanted, %0, 0;\n"
        "@is_wanted cp.async.ca.shared.global [%1], [%2], %3;\n"
        "}" ::"r"(static_cast<int>(is_wanted)),
        "r"(target), "l"(global), "n"(bytes)
        : "memory");
}

/// Makes the copies since the last call a group.
__device__ inline void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all but the newest `pending` groups of this thread have arrived.
template <int pending>
__device__ inline void cp_async_wait_group() {
    delay();
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
    delay();
}

}  // namespace heddle::kernels::ptx
