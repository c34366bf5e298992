#pragma once

#include <cstdint>

namespace heddle::kernels::pool {

/// Windows of as many pixels are shared out to a block's threads; smaller ones are a thread's.
inline constexpr std::int64_t shared_window_pixels = 32;

// How threads share windows. Sums do not depend on the device's size, so none of these does.

/// With as many threads, each with eight loads of 16 bytes under way, DRAM is busy.
inline constexpr std::int64_t filling_threads = 65536;
/// A window is shared out until a thread has no more pixels than these.
inline constexpr std::int64_t least_pixels = 4;
inline constexpr std::int64_t least_threads = 64;  ///< of a block
/// 128 and 32 bytes of neighbouring channels. Blocks become as narrow where images are few.
inline constexpr std::int64_t line_packets = 8, sector_packets = 2;

}  // namespace heddle::kernels::pool
