#pragma once

#include <cstdint>

namespace heddle::kernels {

/// Division of many numbers by one, as a multiplication. The product of dividend and divisor must be below 2^32.
struct quick_division {
    std::uint32_t divisor;
    std::uint32_t factor;  ///< 2^32 / divisor, rounded up

    __host__ __device__ explicit quick_division(std::uint32_t by)
        : divisor(by), factor(by > 1 ? 0xffffffffu / by + 1 : 0) {}

    __device__ std::uint32_t quotient(std::uint32_t n) const { return divisor > 1 ? __umulhi(n, factor) : n; }
    __device__ std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor; }
};

/// The same for any 32-bit dividend, by two multiplications.
struct wide_division {
    std::uint32_t divisor;
    std::uint64_t factor;  ///< 2^64 / divisor, rounded up

    __host__ __device__ explicit wide_division(std::uint32_t by)
        : divisor(by), factor(by > 1 ? ~std::uint64_t{0} / by + 1 : 0) {}

    __device__ std::uint32_t quotient(std::uint32_t n) const {
        return divisor > 1 ? static_cast<std::uint32_t>(__umul64hi(n, factor)) : n;
    }
};

/// The same for a divisor that is known at compile time: the compiler uses shifts or less.
template <std::uint32_t by>
struct known_division {
    static constexpr std::uint32_t divisor = by;

    __host__ __device__ explicit known_division(std::uint32_t) {}

    __device__ std::uint32_t quotient(std::uint32_t n) const { return n / by; }
    __device__ std::uint32_t remainder(std::uint32_t n) const { return n % by; }
};

}  // namespace heddle::kernels
