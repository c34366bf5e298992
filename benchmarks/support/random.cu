#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>

#include <type_traits>
#include <utility>

namespace heddle::bench {
namespace {

constexpr int block = 256;
constexpr int blocks = 4096;

template <class T>
__host__ __device__ T element(std::uint64_t index) {
    const std::uint64_t bits = mixed(index);
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(bits);
    } else {
        // 24 bits are exact in a float.
        const float unit = static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) / (1 << 23);
        return static_cast<T>(unit);
    }
}

template <class T>
__global__ void fill(T* data, std::int64_t size, std::uint64_t first) {
    for (std::int64_t i = threadIdx.x + std::int64_t{blockIdx.x} * block; i < size;
         i += std::int64_t{block} * blocks)
        data[i] = element<T>(first + static_cast<std::uint64_t>(i));
}

/// Where in the sequence the next buffer's numbers begin.
std::uint64_t take(std::int64_t size) {
    static std::uint64_t next = 1;
    return std::exchange(next, next + static_cast<std::uint64_t>(size));
}

}  // namespace

template <class T>
device_buffer<T> random_on_device(std::int64_t size) {
    device_buffer<T> buffer(size, stream());
    fill<<<blocks, block, 0, stream().get()>>>(buffer.data(), size, take(size));
    check(cudaGetLastError());
    return buffer;
}

template <class T>
std::vector<T> random_on_host(std::int64_t size) {
    std::vector<T> values(static_cast<std::size_t>(size));
    const std::uint64_t first = take(size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = element<T>(first + i);
    return values;
}

#define HEDDLE_RANDOM(T) template device_buffer<T> random_on_device(std::int64_t);
HEDDLE_EACH_TYPE(HEDDLE_RANDOM)
#undef HEDDLE_RANDOM
template std::vector<float> random_on_host(std::int64_t);
template std::vector<half> random_on_host(std::int64_t);
template std::vector<std::uint8_t> random_on_host(std::int64_t);
template std::vector<std::uint16_t> random_on_host(std::int64_t);

}  // namespace heddle::bench
