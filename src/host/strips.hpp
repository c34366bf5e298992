#pragma once

#include <cstdint>

/// The innermost loop of products on the CPU.
namespace heddle::detail {

/// 6 x 16 sums fit the vector registers of both AVX2 and AVX-512.
inline constexpr int strip_m = 6;
inline constexpr int strip_n = 16;

/// sums (6 x 16) += A^T B for a strip of A (k x 6) and one of B (k x 16).
void multiply_strips(float* sums, const float* a, const float* b, std::int64_t k);

}  // namespace heddle::detail
