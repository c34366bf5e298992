#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <limits>

namespace heddle::bench {
namespace {

/// CUB is fastest with 32-bit sizes, and no benchmark is larger.
int narrow(std::int64_t size) {
    if (size > std::numeric_limits<int>::max()) throw unsupported("more elements than an int counts");
    return static_cast<int>(size);
}

}  // namespace

template <class T>
void cub_sum(const T* x, std::int64_t size, sum_type<T>* result, std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    if constexpr (std::is_same_v<T, sum_type<T>>)
        check(cub::DeviceReduce::Sum(scratch.data(), bytes, x, result, narrow(size), stream().get()));
    else  // Sum would accumulate in T
        check(cub::DeviceReduce::Reduce(scratch.data(), bytes, x, result, narrow(size),
                                        cuda::std::plus<sum_type<T>>{}, sum_type<T>{}, stream().get()));
}

template <class T>
void cub_min(const T* x, std::int64_t size, T* result, std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceReduce::Min(scratch.data(), bytes, x, result, narrow(size), stream().get()));
}

template <class T>
void cub_max(const T* x, std::int64_t size, T* result, std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceReduce::Max(scratch.data(), bytes, x, result, narrow(size), stream().get()));
}

template void cub_sum(const double*, std::int64_t, double*, std::span<std::byte>);
template void cub_sum(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_sum(const half*, std::int64_t, float*, std::span<std::byte>);
template void cub_sum(const bfloat16*, std::int64_t, float*, std::span<std::byte>);
template void cub_sum(const std::int32_t*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_sum(const std::int64_t*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_min(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_max(const float*, std::int64_t, float*, std::span<std::byte>);

}  // namespace heddle::bench
