#pragma once

#include <heddle/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// CUB's algorithms on stream(), compiled once.
namespace heddle::bench {

/// T is float, double, half or bfloat16; half types are computed in float.
template <class T>
void cub_add(const T* x, const T* y, T* z, std::int64_t size);
template <class T>
void cub_sigmoid(const T* x, T* y, std::int64_t size);
/// T is float or half.
template <class T>
void cub_gelu(const T* x, T* y, std::int64_t size);
template <class T>
void cub_silu(const T* x, T* y, std::int64_t size);

/// T is a type of heddle::sum; accumulated as heddle::sum does.
template <class T>
void cub_sum(const T* x, std::int64_t size, sum_type<T>* result, std::span<std::byte> scratch);
/// T is float.
template <class T>
void cub_min(const T* x, std::int64_t size, T* result, std::span<std::byte> scratch);
template <class T>
void cub_max(const T* x, std::int64_t size, T* result, std::span<std::byte> scratch);
/// T is float. CUB finds the extremum too.
template <class T>
void cub_argmin(const T* x, std::int64_t size, std::int64_t* result, std::span<std::byte> scratch);
template <class T>
void cub_argmax(const T* x, std::int64_t size, std::int64_t* result, std::span<std::byte> scratch);
/// T is float or half, accumulated in float; the squares without the root.
template <class T>
void cub_dot(const T* x, const T* y, std::int64_t size, float* result, std::span<std::byte> scratch);
template <class T>
void cub_norm1(const T* x, std::int64_t size, float* result, std::span<std::byte> scratch);
template <class T>
void cub_squares(const T* x, std::int64_t size, float* result, std::span<std::byte> scratch);
template <class T>
void cub_count_nonzero(const T* x, std::int64_t size, std::int64_t* result, std::span<std::byte> scratch);

/// Enough scratch memory for any of these reductions.
inline constexpr std::int64_t cub_scratch_bytes = 1 << 20;

}  // namespace heddle::bench
