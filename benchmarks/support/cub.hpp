#pragma once

#include <heddle/elementwise.hpp>
#include <heddle/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// CUB's algorithms on stream(), of dense vectors, compiled once.
namespace heddle::bench {

/// z[i] = operation(x[0][i], ...): each function as one writes it, in float for the 16-bit types. p and q are the operation's
/// scalars. T is float, double, half or bfloat16.
template <class T>
void cub_elementwise(elementwise_operation operation, const T* const (&x)[3], T* z, std::int64_t size,
                     double p = 0, double q = 0);

/// The sigmoid in its fastest form: its error is larger than heddle's. T is float, half or bfloat16; of double, it is
/// cub_elementwise's.
template <class T>
void cub_sigmoid(const T* x, T* y, std::int64_t size);

/// The operation on fewer than 2^31 elements; *result is of the type of heddle's, and sums are accumulated as heddle's. norm2 is
/// without the root. y is the dot product's alone. T is float, double, half, bfloat16, int32_t or int64_t.
template <class T>
void cub_reduce(reduce_operation operation, const T* x, const T* y, std::int64_t size, void* result,
                std::span<std::byte> scratch);

/// Enough scratch memory for any of these reductions.
inline constexpr std::int64_t cub_scratch_bytes = 1 << 20;

}  // namespace heddle::bench
