#pragma once

#include <cstdint>

namespace heddle::kernels {

/// What division by one number has for many: a multiplication. For dividends whose product with the divisor is below 2^32.
struct quick_division {
    std::uint32_t divisor;
    std::uint32_t factor;  ///< 2^32 / divisor, rounded up

    __host__ __device__ explicit quick_division(std::uint32_t by)
        : divisor(by), factor(by > 1 ? 0xffffffffu / by + 1 : 0) {}

    __device__ std::uint32_t quotient(std::uint32_t n) const { return divisor > 1 ? __umulhi(n, factor) : n; }
    __device__ std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor; }
};

/// The same for any dividend of 32 bits: two multiplications.
struct wide_division {
    std::uint32_t divisor;
    std::uint64_t factor;  ///< 2^64 / divisor, rounded up

    __host__ __device__ explicit wide_division(std::uint32_t by)
        : divisor(by), factor(by > 1 ? ~std::uint64_t{0} / by + 1 : 0) {}

    __device__ std::uint32_t quotient(std::uint32_t n) const {
        return divisor > 1 ? static_cast<std::uint32_t>(__umul64hi(n, factor)) : n;
    }
};

/// The same by a number that is known at compile time, where it takes shifts or less.
template <std::uint32_t by>
struct known_division {
    static constexpr std::uint32_t divisor = by;

    __host__ __device__ explicit known_division(std::uint32_t) {}

    __device__ std::uint32_t quotient(std::uint32_t n) const { return n / by; }
    __device__ std::uint32_t remainder(std::uint32_t n) const { return n % by; }
};

}  // namespace heddle::kernels
