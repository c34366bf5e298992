#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::bench {

/// CUB's reductions of the rows of a dense matrix on stream(), compiled once.
void cub_row_sum(const float* x, std::int64_t rows, std::int64_t cols, float* y,
                 std::span<std::byte> scratch);
void cub_row_max(const float* x, std::int64_t rows, std::int64_t cols, float* y,
                 std::span<std::byte> scratch);

}  // namespace heddle::bench
