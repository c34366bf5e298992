#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace heddle {

using half = __half;
using bfloat16 = __nv_bfloat16;

/// The type of a sum: float for the 16-bit types, int64 for int32, which then cannot overflow; else T itself.
template <class T>
using sum_type = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                    std::conditional_t<std::is_same_v<T, std::int32_t>, std::int64_t, T>>;

}  // namespace heddle
