#include "src/host/strips.hpp"

#include <cstdint>
#include <cstring>

namespace heddle::detail {
namespace {

using lanes = float __attribute__((vector_size(strip_n * sizeof(float))));

// Compiled for several instruction sets. The loader picks the best one for the processor. It is local, because a
// shared library exports every other function that has clones.
__attribute__((target_clones("avx512f", "fma", "default"))) void multiply(float* sums, const float* a,
                                                                          const float* b, std::int64_t k) {
    lanes local[strip_m];
    std::memcpy(local, sums, sizeof(local));
    for (; k > 0; --k, a += strip_m, b += strip_n) {
        lanes row;
        std::memcpy(&row, b, sizeof(row));
#pragma GCC unroll strip_m
        for (int i = 0; i < strip_m; ++i) local[i] += a[i] * row;
    }
    std::memcpy(sums, local, sizeof(local));
}

}  // namespace

void multiply_strips(float* sums, const float* a, const float* b, std::int64_t k) {
    multiply(sums, a, b, k);
}

}  // namespace heddle::detail
