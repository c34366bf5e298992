#pragma once

#include <cstdint>

/// Access to bytes at any address by aligned words.
namespace heddle::kernels {

/// How many bytes an address lies after the start of its word.
__device__ inline int bytes_behind_word(const std::uint8_t* address) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % sizeof(unsigned));
}

/// The word that begins `bytes` bytes, less than 4, after the start of `first`; `second` is the next word.
__device__ inline unsigned word_behind(unsigned first, unsigned second, int bytes) {
    return __funnelshift_r(first, second, 8 * static_cast<unsigned>(bytes));
}

}  // namespace heddle::kernels
