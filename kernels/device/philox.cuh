#pragma once

#include <cstdint>

namespace heddle::kernels {

/// 128 bits, the input or the output of Philox.
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

inline constexpr int philox_rounds = 10;

/// The key's words for each round. As a kernel's parameter they cost no instruction: they are operands in constant memory.
struct philox_keys {
    std::uint32_t low[philox_rounds];
    std::uint32_t high[philox_rounds];

    __host__ __device__ explicit constexpr philox_keys(std::uint64_t key) : low{}, high{} {
        constexpr std::uint32_t golden_ratio = 0x9e3779b9, root_of_three = 0xbb67ae85;  // their fractions
        auto low_key = static_cast<std::uint32_t>(key);
        auto high_key = static_cast<std::uint32_t>(key >> 32);
        for (int round = 0; round < philox_rounds; ++round) {
            low[round] = low_key;
            high[round] = high_key;
            low_key += golden_ratio;
            high_key += root_of_three;
        }
    }
};

/// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011). Its cost is two wide multiplications a round.
__device__ inline philox_block philox4x32(philox_block counter, const philox_keys& keys) {
    auto& c = counter.words;
#pragma unroll
    for (int round = 0; round < philox_rounds; ++round) {
        const product_words a = multiply(philox_multipliers::first, c[0]);
        const product_words b = multiply(philox_multipliers::second, c[2]);
        counter = {{b.high ^ c[1] ^ keys.low[round], b.low, a.high ^ c[3] ^ keys.high[round], a.low}};
    }
    return counter;
}

}  // namespace heddle::kernels
