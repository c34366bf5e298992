#pragma once

#include <heddle/elementwise.hpp>
#include <heddle/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// CUB's algorithms on stream(), of dense vectors, compiled once.
namespace heddle::bench {

/// z[i] = operation(x[0][i], ...): each function as one writes it, in float for the 16-bit types. p and q are the
/// operation's scalars. T is float, double, half or bfloat16.
template <class T>
void cub_elementwise(elementwise_operation operation, const T* const (&x)[3], T* z, std::int64_t size,
                     double p = 0, double q = 0);

/// The sigmoid in its fastest form: its error is larger than heddle's. T is float, half or bfloat16; of double, it is
/// cub_elementwise's.
template <class T>
void cub_sigmoid(const T* x, T* y, std::int64_t size);

/// The operation on fewer than 2^31 elements. *result has the type of heddle's result, and sums are accumulated in heddle's
/// type. norm2 is without the root. Only the dot product has y. T is float, double, half, bfloat16, int32_t or int64_t.
template <class T>
void cub_reduce(reduce_operation operation, const T* x, const T* y, std::int64_t size, void* result,
                std::span<std::byte> scratch);

/// The sums of the rows of a dense matrix, or their largest elements.
void cub_row_reduction(bool is_sum, const float* x, std::int64_t rows, std::int64_t cols, float* y,
                       std::span<std::byte> scratch);

/// Enough scratch memory for any of these reductions.
inline constexpr std::int64_t cub_scratch_bytes = 1 << 20;

/// A scan. T is float, double, int32_t or int64_t. CUB is fastest with 32-bit sizes.
template <class T>
void cub_scan(bool inclusive, const T* x, T* y, std::int32_t size, std::span<std::byte> scratch);

/// Enough scratch memory for either.
template <class T>
std::int64_t cub_scan_scratch_bytes(std::int32_t size);

/// The histogram with one bin for each byte; `bins` is 256. Counts are in 32 bits, which is CUB's fastest.
void cub_histogram(const std::uint8_t* x, std::int32_t size, std::int32_t* counts, std::int32_t bins,
                   std::span<std::byte> scratch);
/// The histogram of `bins` equal parts of [-1, 1).
void cub_histogram(const float* x, std::int32_t size, std::int32_t* counts, std::int32_t bins,
                   std::span<std::byte> scratch);

/// Enough scratch memory for either.
inline constexpr std::int64_t cub_histogram_scratch_bytes = 64 << 20;

}  // namespace heddle::bench
