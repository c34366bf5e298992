#pragma once

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

__device__ inline float to_float(float value) {
    return value;
}
__device__ inline float to_float(std::uint8_t value) {
    return static_cast<float>(value);
}

/// A float whose last mantissa bit counts 1: adding it rounds to a whole number, halves to even, and leaves
/// that number in the low bits. A blur is a mean of values of 0..255, so it needs no clamp.
inline constexpr float rounding_offset = 0x1p23f;

template <class T>
__device__ T from_float(float value) {
    if constexpr (sizeof(T) == 1)
        return static_cast<T>(__float_as_uint(value + rounding_offset));
    else
        return value;
}

/// Four neighbours in as few registers as they need: what a thread loads, keeps and stores.
template <class T>
struct quad;

template <>
struct quad<float> {
    float4 values;

    __device__ void set(int i, float value) { (&values.x)[i] = value; }
    __device__ float get(int i) const { return (&values.x)[i]; }
    __device__ float4 to_floats() const { return values; }
    __device__ static quad from_floats(const float* v) { return {make_float4(v[0], v[1], v[2], v[3])}; }
};

template <>
struct quad<std::uint8_t> {
    std::uint32_t bytes = 0;

    __device__ void set(int i, std::uint8_t value) {
        bytes = (bytes & ~(0xffu << (8 * i))) | (std::uint32_t{value} << (8 * i));
    }
    __device__ std::uint8_t get(int i) const { return static_cast<std::uint8_t>(bytes >> (8 * i)); }
    /// Exact: a byte in the low bits of rounding_offset is that offset plus the byte.
    __device__ float4 to_floats() const {
        const auto value = [this](unsigned i) {
            const std::uint32_t offset = __float_as_uint(rounding_offset);
            return __uint_as_float(__byte_perm(bytes, offset, 0x7440u | i)) - rounding_offset;
        };
        return make_float4(value(0), value(1), value(2), value(3));
    }
    __device__ static quad from_floats(const float* v) {
        const auto rounded = [v](int i) { return __float_as_uint(v[i] + rounding_offset); };
        const std::uint32_t low = __byte_perm(rounded(0), rounded(1), 0x0040);
        const std::uint32_t high = __byte_perm(rounded(2), rounded(3), 0x0040);
        return {__byte_perm(low, high, 0x5410)};
    }
};

}  // namespace heddle::kernels::gaussian_blur
