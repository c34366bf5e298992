#pragma once

#include <heddle/buffer.hpp>

#include <cstdint>
#include <vector>

namespace heddle::bench {

/// Floating-point numbers uniform in [-1, 1], integers of random bits; the same in every run.
/// Each buffer of a program gets its own numbers.
template <class T>
device_buffer<T> random_on_device(std::int64_t size);
template <class T>
std::vector<T> random_on_host(std::int64_t size);

}  // namespace heddle::bench
