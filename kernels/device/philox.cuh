#pragma once

#include <cstdint>

namespace heddle::kernels {

/// 128 bits: what Philox takes, and what it gives.
struct philox_block {
    std::uint32_t words[4];
};

struct philox_multipliers {
    static constexpr std::uint32_t first = 0xd2511f53;
    static constexpr std::uint32_t second = 0xcd9e8d57;
};

struct product_words {
    std::uint32_t low;
    std::uint32_t high;
};

__device__ inline product_words multiply(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t product = std::uint64_t{a} * b;
    return {static_cast<std::uint32_t>(product), static_cast<std::uint32_t>(product >> 32)};
}

/// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011). Two wide multiplications a round are what it costs.
__device__ inline philox_block philox4x32(philox_block counter, std::uint64_t key) {
    constexpr int rounds = 10;
    constexpr std::uint32_t golden_ratio = 0x9e3779b9, root_of_three = 0xbb67ae85;  // their fractions
    auto low_key = static_cast<std::uint32_t>(key);
    auto high_key = static_cast<std::uint32_t>(key >> 32);
    auto& c = counter.words;
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
        const product_words a = multiply(philox_multipliers::first, c[0]);
        const product_words b = multiply(philox_multipliers::second, c[2]);
        counter = {{b.high ^ c[1] ^ low_key, b.low, a.high ^ c[3] ^ high_key, a.low}};
        low_key += golden_ratio;
        high_key += root_of_three;
    }
    return counter;
}

}  // namespace heddle::kernels
