#pragma once

#include <cstring>

namespace heddle::kernels::ptx {

/// Stores 16 bytes of global memory at once. For structures that the compiler would take apart.
template <class T>
__device__ void store(T* at, const T& value) {
    static_assert(sizeof(T) == sizeof(uint4) && alignof(T) == alignof(uint4));
    uint4 bits;
    memcpy(&bits, &value, sizeof(bits));
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(bits.x), "r"(bits.y), "r"(bits.z),
                 "r"(bits.w)
                 : "memory");
}

}  // namespace heddle::kernels::ptx
