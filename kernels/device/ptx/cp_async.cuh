#pragma once

#include "kernels/device/ptx/delay.cuh"

namespace heddle::kernels::ptx {

enum class cache { all_levels, l2 };

/// Starts a copy of `bytes` bytes, 4, 8 or 16, from global to shared memory (compute capability 8.0). Only
/// the first `valid` bytes are read, none where it is 0; the others are filled with zeros. CUDA's
/// __pipeline_memcpy_async does the same by a branch for each number of bytes. What is read once per block
/// stays out of L1, which exists for 16 bytes only.
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

/// Starts a copy of all of 4 or 8 bytes, where it is wanted. A predicate of the instruction costs less than a branch around it
/// and its addresses.
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

/// Closes the group of the copies started since the last one.
__device__ inline void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all but this thread's newest `pending` groups have arrived.
template <int pending>
__device__ inline void cp_async_wait_group() {
    delay();
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
    delay();
}

}  // namespace heddle::kernels::ptx
