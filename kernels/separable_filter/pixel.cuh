#pragma once

#include <heddle/types.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::kernels::separable_filter {

template <class T>
__device__ float to_float(T value) {
    return static_cast<float>(value);
}

/// A float whose last mantissa bit counts 1: adding it rounds to a whole number, halves to even, and leaves
/// that number in the low bits.
inline constexpr float rounding_offset = 0x1p23f;

template <class T>
inline constexpr float largest = std::numeric_limits<T>::max();

/// Integers: rounded to nearest, and what T cannot hold to the nearest it can.
template <class T>
__device__ T from_float(float value) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(__float_as_uint(fminf(fmaxf(value, 0.0f), largest<T>) + rounding_offset));
    else
        return static_cast<T>(value);
}

/// Four neighbours in as few registers as they need: what a thread loads, keeps and stores. from_floats()
/// takes a mean of what T holds. That needs no clamp, but for uint16: 65535 is less than some hundred
/// roundings of its sum away from what would overflow.
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
struct quad<half> {
    half2 low;
    half2 high;

    __device__ void set(int i, half value) { reinterpret_cast<half*>(this)[i] = value; }
    __device__ half get(int i) const { return reinterpret_cast<const half*>(this)[i]; }
    __device__ float4 to_floats() const {
        const float2 a = __half22float2(low), b = __half22float2(high);
        return make_float4(a.x, a.y, b.x, b.y);
    }
    __device__ static quad from_floats(const float* v) {
        return {__floats2half2_rn(v[0], v[1]), __floats2half2_rn(v[2], v[3])};
    }
};

template <>
struct quad<std::uint16_t> {
    std::uint32_t low = 0;
    std::uint32_t high = 0;

    __device__ void set(int i, std::uint16_t value) {
        std::uint32_t& word = i < 2 ? low : high;
        word = __byte_perm(word, value, i % 2 == 0 ? 0x3254 : 0x5410);
    }
    __device__ std::uint16_t get(int i) const {
        return static_cast<std::uint16_t>((i < 2 ? low : high) >> (16 * (i % 2)));
    }
    /// Exact: a number below 2^16 in the low bits of rounding_offset is that offset plus the number.
    __device__ float4 to_floats() const {
        const auto value = [](std::uint32_t word, unsigned permutation) {
            return __uint_as_float(__byte_perm(word, __float_as_uint(rounding_offset), permutation)) -
                   rounding_offset;
        };
        return make_float4(value(low, 0x7610), value(low, 0x7632), value(high, 0x7610), value(high, 0x7632));
    }
    __device__ static quad from_floats(const float* v) {
        const auto rounded = [v](int i) {
            return __float_as_uint(fminf(v[i], largest<std::uint16_t>) + rounding_offset);
        };
        return {__byte_perm(rounded(0), rounded(1), 0x5410), __byte_perm(rounded(2), rounded(3), 0x5410)};
    }
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

}  // namespace heddle::kernels::separable_filter
