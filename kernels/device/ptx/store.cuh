#pragma once

#include <cstring>

namespace heddle::kernels::ptx {

/// Stores a structure of up to 16 bytes, aligned to its size, to global memory by one instruction. The compiler often
/// splits the assignment of a vector into stores of four bytes, each of which touches all sectors of a warp's line.
template <class T>
__device__ void store(T* at, const T& value) {
    static_assert(sizeof(T) <= sizeof(uint4) && alignof(T) == sizeof(T));
    if constexpr (sizeof(T) == sizeof(uint4)) {
        uint4 bits;
        memcpy(&bits, &value, sizeof(bits));
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(bits.x), "r"(bits.y),
                     "r"(bits.z), "r"(bits.w)
                     : "memory");
    } else if constexpr (sizeof(T) == sizeof(uint2)) {
        uint2 bits;
        memcpy(&bits, &value, sizeof(bits));
        asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(at), "r"(bits.x), "r"(bits.y) : "memory");
    } else if constexpr (sizeof(T) == sizeof(unsigned)) {
        unsigned bits;
        memcpy(&bits, &value, sizeof(bits));
        asm volatile("st.global.b32 [%0], %1;" ::"l"(at), "r"(bits) : "memory");
    } else {
        *at = value;
    }
}

}  // namespace heddle::kernels::ptx
