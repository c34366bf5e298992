#pragma once

#include <heddle/buffer.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace heddle::bench {

/// The finaliser of splitmix64.
__host__ __device__ inline std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

/// Floating-point numbers uniform in [-1, 1], integers of random bits; the same in every run.
/// Each buffer of a program gets its own numbers.
template <class T>
device_buffer<T> random_on_device(std::int64_t size);
template <class T>
std::vector<T> random_on_host(std::int64_t size);

}  // namespace heddle::bench
