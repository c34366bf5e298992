#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// CUB's scans on stream(), compiled once. T is float, double, int32_t or int64_t. CUB is fastest with 32-bit sizes.
namespace heddle::bench {

template <class T>
void cub_inclusive_scan(const T* x, T* y, std::int32_t size, std::span<std::byte> scratch);
template <class T>
void cub_exclusive_scan(const T* x, T* y, std::int32_t size, std::span<std::byte> scratch);

/// Enough scratch memory for either.
template <class T>
std::int64_t cub_scan_scratch_bytes(std::int32_t size);

}  // namespace heddle::bench
