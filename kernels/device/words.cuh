#pragma once

#include <cstdint>

/// Bytes at any address, taken by the words of memory that they lie in.
namespace heddle::kernels {

/// How many bytes an address lies behind the start of its word.
__device__ inline int bytes_behind_word(const std::uint8_t* address) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % sizeof(unsigned));
}

/// The word that begins so many bytes, less than a word's, behind the start of the first of two.
__device__ inline unsigned word_behind(unsigned first, unsigned second, int bytes) {
    return __funnelshift_r(first, second, 8 * static_cast<unsigned>(bytes));
}

}  // namespace heddle::kernels
