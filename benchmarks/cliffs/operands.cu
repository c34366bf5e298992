#include "benchmarks/cliffs/operands.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include "kernels/device/math.hpp"
#include <heddle/error.hpp>

#include <cstdint>
#include <type_traits>

namespace heddle::bench::cliffs {
namespace {

constexpr int block = 256;
constexpr unsigned blocks = 2048;

template <class T>
__global__ void fill_kernel(T* data, std::int64_t size, std::uint64_t seed, float low, float high,
                            float step) {
    for (std::int64_t i = threadIdx.x + std::int64_t{blockIdx.x} * block; i < size;
         i += std::int64_t{block} * blocks) {
        const std::uint64_t bits = mixed(seed + 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(i + 1));
        // 24 bits are exact in a float.
        float value = low + (high - low) * (static_cast<float>(bits >> 40) * 0x1p-24f);
        if (step != 0) value = step * rintf(value / step);
        if constexpr (std::is_integral_v<T>)
            data[i] = static_cast<T>(rintf(value));
        else
            data[i] = static_cast<T>(value);
    }
}

template <class T>
__global__ void gather_kernel(const T* data, const std::int64_t* places, std::int64_t count, T* results) {
    const std::int64_t i = threadIdx.x + std::int64_t{blockIdx.x} * block;
    if (i < count) results[i] = data[places[i]];
}

}  // namespace

template <class T>
void fill_random(T* data, std::int64_t size, std::uint64_t seed, const numbers& from) {
    if (size == 0) return;
    fill_kernel<<<blocks, block, 0, stream().get()>>>(data, size, mixed(seed), static_cast<float>(from.low),
                                                      static_cast<float>(from.high),
                                                      static_cast<float>(from.step));
    check(cudaGetLastError());
}

template <class T>
void launch_gather(const T* data, const std::int64_t* places, std::int64_t count, T* results) {
    gather_kernel<<<static_cast<unsigned>(kernels::divide_up(count, block)), block, 0, stream().get()>>>(
        data, places, count, results);
    check(cudaGetLastError());
}

#define HEDDLE_CLIFFS_OPERANDS(T)                                               \
    template void fill_random(T*, std::int64_t, std::uint64_t, const numbers&); \
    template void launch_gather(const T*, const std::int64_t*, std::int64_t, T*);
HEDDLE_EACH_TYPE(HEDDLE_CLIFFS_OPERANDS)
#undef HEDDLE_CLIFFS_OPERANDS

}  // namespace heddle::bench::cliffs
