#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

/// Loads and stores of global memory with a predicate; the compiler would branch around each instead.
namespace heddle::kernels::ptx {

/// to = *from where `is_wanted`; otherwise reads nothing and leaves `to` unchanged. For 2 or 4 bytes that nobody writes
/// meanwhile.
template <class Bits>
__device__ void load_if(bool is_wanted, Bits& to, const Bits* from) {
    if constexpr (std::is_same_v<Bits, std::uint32_t>)
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.b32 %0, [%1];}"
                     : "+r"(to)
                     : "l"(from), "r"(int(is_wanted)));
    else
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.b16 %0, [%1];}"
                     : "+h"(to)
                     : "l"(from), "r"(int(is_wanted)));
}

/// *to = value where `is_wanted`. For 2, 4 or 8 bytes at an address that is a multiple of their number.
template <class T>
__device__ void store_if(bool is_wanted, T* to, const T& value) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 8) {
        uint2 bits;
        memcpy(&bits, &value, sizeof(bits));
        asm volatile("{.reg .pred p; setp.ne.s32 p, %3, 0; @p st.global.v2.b32 [%0], {%1, %2};}" ::"l"(to),
                     "r"(bits.x), "r"(bits.y), "r"(int(is_wanted))
                     : "memory");
    } else if constexpr (sizeof(T) == 4) {
        std::uint32_t bits;
        memcpy(&bits, &value, sizeof(bits));
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.b32 [%0], %1;}" ::"l"(to), "r"(bits),
                     "r"(int(is_wanted))
                     : "memory");
    } else {
        std::uint16_t bits;
        memcpy(&bits, &value, sizeof(bits));
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.b16 [%0], %1;}" ::"l"(to), "h"(bits),
                     "r"(int(is_wanted))
                     : "memory");
    }
}

}  // namespace heddle::kernels::ptx
