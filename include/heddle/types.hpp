#pragma once

#pragma GCC visibility push(default)

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace heddle {

using half = __half;
using bfloat16 = __nv_bfloat16;

/// The type of a sum: float for the 16-bit types; int64 for int32, so that it cannot overflow; otherwise T itself.
template <class T>
using sum_type = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                    std::conditional_t<std::is_same_v<T, std::int32_t>, std::int64_t, T>>;

/// The type of arithmetic on T: float for the 16-bit types.
template <class T>
using compute_type = std::conditional_t<std::is_same_v<T, double>, double, float>;

enum class element_type { f32, f64, f16, bf16 };

template <class T>
inline constexpr element_type element_type_of = [] {
    if constexpr (std::is_same_v<T, float>)
        return element_type::f32;
    else if constexpr (std::is_same_v<T, double>)
        return element_type::f64;
    else if constexpr (std::is_same_v<T, half>)
        return element_type::f16;
    else {
        static_assert(std::is_same_v<T, bfloat16>, "T is float, double, half or bfloat16");
        return element_type::bf16;
    }
}();

}  // namespace heddle

#pragma GCC visibility pop
