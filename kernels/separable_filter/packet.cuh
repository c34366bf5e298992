#pragma once

#include "kernels/separable_filter/pixel.cuh"

#include <type_traits>

namespace heddle::kernels::separable_filter {

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

    /// An integer is the subnormal float that has its bits: no conversion. The scales of the taps make up for
    /// it, and nothing may be compiled with -ftz=true.
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

    /// Of means of what T holds.
    __device__ static packet from_floats(const float (&means)[values]) {
        packet result;
        auto* quads = reinterpret_cast<quad<T>*>(result.words);
#pragma unroll
        for (int q = 0; q < values / 4; ++q) quads[q] = quad<T>::from_floats(means + 4 * q);
        return result;
    }
};

/// Subnormal numbers count in units of 2^-149. The taps of the first pass make normal numbers of their sums, those
/// of the second the image's.
template <class T>
inline constexpr float scale_of_first_pass = std::is_integral_v<T> ? 0x1p120f : 1;
template <class T>
inline constexpr float scale_of_second_pass = std::is_integral_v<T> ? 0x1p29f : 1;

/// Results leave as what nobody reads again soon: a large image would only drive its own source out of L2.
template <class T, int values>
__device__ void store(T* to, const packet<T, values>& from) {
    if constexpr (sizeof(from) == 16)
        __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&from));
    else
        *reinterpret_cast<packet<T, values>*>(to) = from;
}

}  // namespace heddle::kernels::separable_filter
