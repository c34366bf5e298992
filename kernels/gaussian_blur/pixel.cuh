#pragma once

#include <heddle/types.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::kernels::gaussian_blur {

template <class T>
__device__ float to_float(T value) {
    return static_cast<float>(value);
}

/// The last mantissa bit of this float counts 1. Adding it to a value rounds that to a whole number, halves to even, and
/// leaves the number in the low bits.
inline constexpr float rounding_offset = 0x1p23f;

template <class T>
inline constexpr float largest = std::numeric_limits<T>::max();

/// Integers are rounded to nearest. A value that T cannot hold becomes the nearest that it can.
template <class T>
__device__ T from_float(float value) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(__float_as_uint(fminf(fmaxf(value, 0.0f), largest<T>) + rounding_offset));
    else
        return static_cast<T>(value);
}

/// Four neighbours in as few registers as they need, as a thread loads, keeps and stores them. from_floats() takes means of
/// values of T. Only uint16 needs a clamp for that: the roundings of some hundred terms can carry a mean of 65535 too far.
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

/// A word of memory full of `value`.
template <class T>
__device__ unsigned word_of(T value) {
    alignas(unsigned) T word[sizeof(unsigned) / sizeof(T)];
#pragma unroll
    for (T& copy : word) copy = value;
    return *reinterpret_cast<const unsigned*>(word);
}

/// The neighbours that a thread owns, as words of memory.
template <class T, int values>
struct alignas(values * sizeof(T)) packet {
    unsigned words[values * sizeof(T) / 4];

    /// An integer is not converted, but read as the subnormal float with the same bits. The scales of the taps make up for
    /// that. Nothing that uses it may be compiled with -ftz=true.
    __device__ float get(int i) const {
        const unsigned word = words[i * static_cast<int>(sizeof(T)) / 4];
        if constexpr (sizeof(T) == 4) return __uint_as_float(word);
        if constexpr (sizeof(T) == 1) return __uint_as_float(__byte_perm(word, 0, 0x4440 + i % 4));
        const unsigned bits = i % 2 == 0 ? word & 0xffff : word >> 16;
        if constexpr (std::is_integral_v<T>) return __uint_as_float(bits);
        return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    }

    __device__ void fill(T value) {
        const unsigned filled = word_of(value);
#pragma unroll
        for (unsigned& word : words) word = filled;
    }

    /// `means` are means of values of T.
    __device__ static packet from_floats(const float (&means)[values]) {
        packet result;
        auto* quads = reinterpret_cast<quad<T>*>(result.words);
#pragma unroll
        for (int q = 0; q < values / 4; ++q) quads[q] = quad<T>::from_floats(means + 4 * q);
        return result;
    }
};

/// Subnormal numbers count in units of 2^-149. The taps of the first pass scale their sums to normal numbers. Those of the
/// second pass scale these to the image's values.
template <class T>
inline constexpr float scale_of_first_pass = std::is_integral_v<T> ? 0x1p120f : 1;
template <class T>
inline constexpr float scale_of_second_pass = std::is_integral_v<T> ? 0x1p29f : 1;

/// Stores results as data that nobody reads again soon. Else a large image would drive its own source out of L2.
template <class T, int values>
__device__ void store(T* to, const packet<T, values>& from) {
    if constexpr (sizeof(from) == 16)
        __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&from));
    else
        *reinterpret_cast<packet<T, values>*>(to) = from;
}

// A kernel that is compiled for `radius` also takes smaller radii from `least` on. It then leaves the outer taps out: with
// weights of 0, a NaN outside of the window would reach the sum.

/// The pass along x. Adds the input at place `at`, counted from a thread's first value, to the sums whose windows have it.
/// A sum begins with the first input of its window. The middle tap is taps[radius].
template <class tile, int channels, int radius, int least = radius>
__device__ void filter_row_input(int at, float input, const float* taps, float (&sums)[tile::values],
                                 int own_radius = radius) {
#pragma unroll
    for (int i = 0; i < tile::values; ++i) {
        const int distance = at - i;
        if (distance % channels != 0 || distance < -tile::halo || distance > tile::halo) continue;
        const int pixels = distance / channels;
        const bool is_tap = ::max(pixels, -pixels) <= least || ::max(pixels, -pixels) <= own_radius;
        const float tap = taps[radius + pixels];
        if (distance == -tile::halo)
            sums[i] = is_tap ? tap * input : 0;
        else if (is_tap)
            sums[i] = fmaf(tap, input, sums[i]);
    }
}

/// The pass along y. Adds a row to sums [first, last) of 2 * radius, and returns the one that is complete. The last tap is
/// taps[2 * radius]. Sums begin as 0, and those from 2 * own_radius on stay 0.
template <int radius, int first = 0, int last = 2 * radius, int least = radius>
__device__ float filter_column(float h, const float* taps, float (&sums)[2 * radius + 1],
                               int own_radius = radius) {
    sums[2 * radius] = 0;
    const float complete = fmaf(taps[2 * radius], h, sums[0]);
#pragma unroll
    for (int i = first; i < last; ++i)
        if (i < 2 * least || i < 2 * own_radius) sums[i] = fmaf(taps[2 * radius - 1 - i], h, sums[i + 1]);
    return complete;
}

}  // namespace heddle::kernels::gaussian_blur
