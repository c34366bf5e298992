#pragma once

#include <cstdint>

namespace heddle::kernels {

/// `size` elements that are loaded and stored by one instruction of up to 16 bytes.
template <class T, int size>
struct alignas(size * sizeof(T)) vector {
    T elements[size];

    __device__ T& operator[](int i) { return elements[i]; }
    __device__ const T& operator[](int i) const { return elements[i]; }
};

/// The widest vector instruction.
inline constexpr int max_vector_bytes = 16;

/// The largest power of two of bytes, at most 16, that divides each of the given addresses and steps in
/// bytes.
template <class... Integers>
constexpr int common_alignment(Integers... values) {
    std::uint64_t bits = max_vector_bytes;
    ((bits |= static_cast<std::uint64_t>(values)), ...);
    return static_cast<int>(bits & -bits);
}

}  // namespace heddle::kernels
