// permutation: a thread sends one element through a Feistel network until it is in range.
//
//   L | R   ->   L ^ f(R, key 0) | R   ->   L | R ^ f(L, key 1)   ->   ...   16 steps      below n? done. Else again.
//
// Each step can be undone, so the network permutes the numbers of b bits, which are fewer than 2 n. A walk through numbers
// out of range ends, because its cycle leads back to its start, which is in range. So the results are a permutation of the
// numbers in range. A block's first four threads compute the keys. The limit is arithmetic: two wide multiplications per
// step, and each warp's longest walk.

#include "kernels/device/math.hpp"
#include "kernels/device/philox.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/random/launch.hpp"

#include <bit>
#include <cstdint>

namespace heddle::kernels::random {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int steps = 16;
    static constexpr int words = 4;  // per block of Philox
    static constexpr std::uint32_t kind = 2;
};

/// The bits of the two halves of a number. A half may have none.
struct network {
    int low_bits;
    std::uint32_t high_mask;
    std::uint32_t low_mask;
};

__device__ std::uint32_t round_function(std::uint32_t x, std::uint32_t key) {
    const product_words once = multiply(philox_multipliers::first, x ^ key);
    const product_words twice = multiply(philox_multipliers::second, once.high ^ once.low);
    return twice.high ^ twice.low;
}

__global__ void __launch_bounds__(tile::threads)
    permutation(vector_view<std::int32_t> y, philox generator, network n) {
    __shared__ std::uint32_t keys[tile::steps];
    if (threadIdx.x < tile::steps / tile::words) {
        const std::uint64_t s =
            generator.offset + (generator.device_offset != nullptr ? *generator.device_offset : 0);
        const philox_block block = philox4x32(
            {{static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32), tile::kind, threadIdx.x}},
            philox_keys(generator.seed));
        for (int k = 0; k < tile::words; ++k) keys[threadIdx.x * tile::words + k] = block.words[k];
    }
    ptx::sync_threads();
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (i >= y.size) return;
    auto value = static_cast<std::uint32_t>(i);
    do {
        std::uint32_t high = value >> n.low_bits, low = value & n.low_mask;
#pragma unroll
        for (int step = 0; step < tile::steps; step += 2) {
            high ^= round_function(low, keys[step]) & n.high_mask;
            low ^= round_function(high, keys[step + 1]) & n.low_mask;
        }
        value = high << n.low_bits | low;
    } while (value >= y.size);
    y.data[i * y.stride] = static_cast<std::int32_t>(value);
}

}  // namespace

void launch_permutation(vector_view<std::int32_t> y, const philox& generator, cudaStream_t stream) {
    const int bits = std::bit_width(static_cast<std::uint32_t>(y.size - 1));
    const int high_bits = bits / 2, low_bits = bits - high_bits;
    const auto mask = [](int width) { return (std::uint32_t{1} << width) - 1; };
    launch({.blocks = {divide_up(y.size, tile::threads)}, .threads = {tile::threads}, .stream = stream},
           permutation, y, generator, {low_bits, mask(high_bits), mask(low_bits)});
}

}  // namespace heddle::kernels::random
