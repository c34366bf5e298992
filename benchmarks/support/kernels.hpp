#pragma once

#include <cuda/stream_ref>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::bench {

/// Keeps one thread of the device busy for this long.
void spin(std::chrono::nanoseconds duration, cuda::stream_ref stream);

/// Fused multiply-adds that need nothing but the FP32 units: `blocks` x fma_block threads, fma_per_thread
/// each.
inline constexpr int fma_block = 256;
inline constexpr std::int64_t fma_per_thread = 1 << 17;
void fma_chains(int blocks, float* sink, cuda::stream_ref stream);

/// Reads `bytes`, a multiple of 16, and writes nothing.
void read(const std::byte* data, std::int64_t bytes, cuda::stream_ref stream);

}  // namespace heddle::bench
