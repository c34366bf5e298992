#pragma once

#include <cstdint>

namespace heddle::kernels::pool {

/// A block's threads share windows of at least this many pixels; one thread takes a smaller one.
inline constexpr std::int64_t shared_window_pixels = 32;

// How threads share windows. Sums must not depend on the device's size, so none of these does.

/// This many threads keep DRAM busy, each with eight loads of 16 bytes under way.
inline constexpr std::int64_t filling_threads = 65536;
/// Threads share a window until each has no more pixels than this.
inline constexpr std::int64_t least_pixels = 4;
inline constexpr std::int64_t least_threads = 64;  ///< per block
/// 128 and 32 bytes of neighbouring channels: how narrow a block becomes where images are few.
inline constexpr std::int64_t line_packets = 8, sector_packets = 2;

}  // namespace heddle::kernels::pool
