#pragma once

namespace heddle::kernels::ptx {

/// Fetches the line at the address into L2 without waiting.
__device__ inline void prefetch_to_l2(const void* global) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(global)));
}

}  // namespace heddle::kernels::ptx
