#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstdint>

/// Arithmetic of whole numbers, for host and device. The functions have the types that the operators have.
namespace heddle::kernels {

/// n / d, rounded up. It takes d > 0 and n > -d, and gives 0 where n is not positive. n + d - 1 must not overflow.
template <std::integral N, std::integral D>
__host__ __device__ constexpr auto divide_up(N n, D d) {
    return (n + d - 1) / d;
}

/// The least multiple of `multiple` that is no less than n; of the numbers that divide_up() takes.
template <std::integral N, std::integral M>
__host__ __device__ constexpr auto round_up(N n, M multiple) {
    return divide_up(n, multiple) * multiple;
}

/// The least power of two that is no less than n; or `most`, a power of two, where that is less.
__host__ __device__ constexpr std::int64_t power_at_least(std::int64_t n,
                                                          std::int64_t most = std::int64_t{1} << 62) {
    std::int64_t power = 1;
    while (power < n && power < most) power *= 2;
    return power;
}

/// The widest vector instruction.
inline constexpr int max_vector_bytes = 16;

/// The largest power of two of bytes, at most 16, that divides each of the given addresses and steps in bytes.
template <std::integral... Integers>
__host__ __device__ constexpr int common_alignment(Integers... values) {
    std::uint64_t bits = max_vector_bytes;
    ((bits |= static_cast<std::uint64_t>(values)), ...);
    return static_cast<int>(bits & -bits);
}

}  // namespace heddle::kernels
