#pragma once

#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::bench {

/// Keeps one thread of the device busy for this long.
void spin(std::chrono::nanoseconds duration, cuda::stream_ref stream);

/// Reads `bytes`, a multiple of 16, and writes nothing.
void read(const std::byte* data, std::int64_t bytes, cuda::stream_ref stream);

// One launch by hand on stream(), with nothing around it: the least that a call can cost the host. What the device makes of
// it is right, but not fast.
void launch_add(const float* x, const float* y, float* z, std::int64_t size);
void launch_sum(const float* x, std::int64_t size, float* result);
void launch_softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols);
void launch_transpose(const float* source, float* destination, std::int64_t rows, std::int64_t cols);

/// GELU as a user's functor through heddle::transform, on stream(). T is float or half.
template <class T>
void own_gelu(vector_view<const T> x, vector_view<T> y);

}  // namespace heddle::bench
