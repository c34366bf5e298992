#pragma once

#include "kernels/device/launch.hpp"

#include <cstdint>

namespace heddle::kernels::separable_filter {

__host__ __device__ constexpr int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// What the widest loads and stores take at once, in bytes.
inline constexpr int packet_bytes = 16;

/// The largest power of two that divides so many bytes, up to those of a packet.
constexpr int alignment_of(std::int64_t bytes) {
    const std::int64_t bits = bytes | packet_bytes;
    return static_cast<int>(bits & -bits);
}

/// The values from the start of a window to its first column, at place x of a row: those that it reaches, and as many more as
/// make it start at a multiple of `multiple`.
constexpr int values_before(int reach, int x, int multiple) {
    return reach + (x + round_up(reach, multiple) - reach) % multiple;
}

}  // namespace heddle::kernels::separable_filter
