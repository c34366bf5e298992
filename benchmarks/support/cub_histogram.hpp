#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// CUB's histogram of equal bins on stream(), compiled once. It counts in 32 bits, which is its fastest.
namespace heddle::bench {

/// One bin for each byte; `bins` is 256.
void cub_histogram(const std::uint8_t* x, std::int32_t size, std::int32_t* counts, std::int32_t bins,
                   std::span<std::byte> scratch);
/// `bins` equal parts of [-1, 1).
void cub_histogram(const float* x, std::int32_t size, std::int32_t* counts, std::int32_t bins,
                   std::span<std::byte> scratch);

/// Enough scratch memory for either.
inline constexpr std::int64_t cub_histogram_scratch_bytes = 64 << 20;

}  // namespace heddle::bench
