#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstdint>

/// Integer arithmetic for host and device. A result has the type that the operators give it.
namespace heddle::kernels {

/// n / d, rounded up. Needs d > 0 and n > -d; gives 0 where n is not positive. n + d - 1 must not overflow.
template <std::integral N, std::integral D>
__host__ __device__ constexpr auto divide_up(N n, D d) {
    return (n + d - 1) / d;
}

/// n rounded up to a multiple of `multiple`. The arguments are those of divide_up().
template <std::integral N, std::integral M>
__host__ __device__ constexpr auto round_up(N n, M multiple) {
    return divide_up(n, multiple) * multiple;
}

/// The least power of two that is at least n, but no more than `most`, itself a power of two.
__host__ __device__ constexpr std::int64_t power_at_least(std::int64_t n,
                                                          std::int64_t most = std::int64_t{1} << 62) {
    std::int64_t power = 1;
    while (power < n && power < most) power *= 2;
    return power;
}

/// The bytes of the widest vector instruction.
inline constexpr int max_vector_bytes = 16;

/// The largest power of two, at most 16, that divides each of the given addresses and steps in bytes.
template <std::integral... Integers>
__host__ __device__ constexpr int common_alignment(Integers... values) {
    std::uint64_t bits = max_vector_bytes;
    ((bits |= static_cast<std::uint64_t>(values)), ...);
    return static_cast<int>(bits & -bits);
}

}  // namespace heddle::kernels
