#pragma once

#include <cuda/stream_ref>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::bench {

/// Keeps one thread of the device busy for this long.
void spin(std::chrono::nanoseconds duration, cuda::stream_ref stream);

/// Reads `bytes`, a multiple of 16, and writes nothing.
void read(const std::byte* data, std::int64_t bytes, cuda::stream_ref stream);

}  // namespace heddle::bench
