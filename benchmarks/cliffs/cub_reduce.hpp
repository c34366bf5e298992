#pragma once

#include <heddle/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::bench::cliffs {

/// Where *result is of the type of heddle's: the operation on dense vectors of fewer than 2^31 elements by CUB on stream().
/// norm2 is without the root. T is float, double, half, bfloat16, int32_t or int64_t.
template <class T>
void cub_reduce(reduce_operation operation, const T* x, const T* y, std::int64_t size, void* result,
                std::span<std::byte> scratch);

}  // namespace heddle::bench::cliffs
