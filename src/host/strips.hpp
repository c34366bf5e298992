#pragma once

#include <cstdint>

/// The innermost loop of products on the CPU.
namespace heddle::detail {

/// 6 x 16 sums fill the vector registers of AVX2 and of AVX-512 alike.
inline constexpr int strip_m = 6;
inline constexpr int strip_n = 16;

/// sums (6 x 16) += the products of a strip of A (k x 6) and one of B (k x 16).
void multiply_strips(float* sums, const float* a, const float* b, std::int64_t k);

}  // namespace heddle::detail
