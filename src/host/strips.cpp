#include "src/host/strips.hpp"

#include <cstdint>
#include <cstring>

namespace heddle::detail {
namespace {

using lanes = float __attribute__((vector_size(strip_n * sizeof(float))));

}  // namespace

// Compiled for several instruction sets. The loader picks the best one for the processor.
__attribute__((target_clones("avx512f", "fma", "default"))) void multiply_strips(float* sums, const float* a,
                                                                                 const float* b,
                                                                                 std::int64_t k) {
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

}  // namespace heddle::detail
