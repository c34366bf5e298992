#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/zip_iterator.h>

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

namespace {

/// Where an extremum's place goes; the extremum itself follows it.
float* extremum_of(std::span<std::byte> scratch) {
    return reinterpret_cast<float*>(scratch.data());
}

constexpr std::size_t extremum_bytes = 256;

template <class Result, class Input, class Transform>
void transform_sum(Input x, std::int64_t size, Result* result, std::span<std::byte> scratch,
                   Transform transform) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceReduce::TransformReduce(scratch.data(), bytes, x, result, narrow(size),
                                             cuda::std::plus<Result>{}, transform, Result{}, stream().get()));
}

struct product {
    template <class Pair>
    __device__ float operator()(const Pair& pair) const {
        return static_cast<float>(thrust::get<0>(pair)) * static_cast<float>(thrust::get<1>(pair));
    }
};
struct magnitude {
    template <class T>
    __device__ float operator()(T x) const {
        return fabsf(static_cast<float>(x));
    }
};
struct square {
    template <class T>
    __device__ float operator()(T x) const {
        return static_cast<float>(x) * static_cast<float>(x);
    }
};
struct is_nonzero {
    template <class T>
    __device__ std::int64_t operator()(T x) const {
        return static_cast<float>(x) != 0 ? 1 : 0;
    }
};

}  // namespace

template <class T>
void cub_argmin(const T* x, std::int64_t size, std::int64_t* result, std::span<std::byte> scratch) {
    const std::span<std::byte> rest = scratch.subspan(extremum_bytes);
    std::size_t bytes = rest.size();
    check(
        cub::DeviceReduce::ArgMin(rest.data(), bytes, x, extremum_of(scratch), result, size, stream().get()));
}

template <class T>
void cub_argmax(const T* x, std::int64_t size, std::int64_t* result, std::span<std::byte> scratch) {
    const std::span<std::byte> rest = scratch.subspan(extremum_bytes);
    std::size_t bytes = rest.size();
    check(
        cub::DeviceReduce::ArgMax(rest.data(), bytes, x, extremum_of(scratch), result, size, stream().get()));
}

template <class T>
void cub_dot(const T* x, const T* y, std::int64_t size, float* result, std::span<std::byte> scratch) {
    transform_sum(thrust::make_zip_iterator(x, y), size, result, scratch, product{});
}

template <class T>
void cub_norm1(const T* x, std::int64_t size, float* result, std::span<std::byte> scratch) {
    transform_sum(x, size, result, scratch, magnitude{});
}

template <class T>
void cub_squares(const T* x, std::int64_t size, float* result, std::span<std::byte> scratch) {
    transform_sum(x, size, result, scratch, square{});
}

template <class T>
void cub_count_nonzero(const T* x, std::int64_t size, std::int64_t* result, std::span<std::byte> scratch) {
    transform_sum(x, size, result, scratch, is_nonzero{});
}

template void cub_sum(const double*, std::int64_t, double*, std::span<std::byte>);
template void cub_sum(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_sum(const half*, std::int64_t, float*, std::span<std::byte>);
template void cub_sum(const bfloat16*, std::int64_t, float*, std::span<std::byte>);
template void cub_sum(const std::int32_t*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_sum(const std::int64_t*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_min(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_max(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_argmin(const float*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_argmax(const float*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_dot(const float*, const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_dot(const half*, const half*, std::int64_t, float*, std::span<std::byte>);
template void cub_norm1(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_norm1(const half*, std::int64_t, float*, std::span<std::byte>);
template void cub_squares(const float*, std::int64_t, float*, std::span<std::byte>);
template void cub_squares(const half*, std::int64_t, float*, std::span<std::byte>);
template void cub_count_nonzero(const float*, std::int64_t, std::int64_t*, std::span<std::byte>);
template void cub_count_nonzero(const half*, std::int64_t, std::int64_t*, std::span<std::byte>);

}  // namespace heddle::bench
