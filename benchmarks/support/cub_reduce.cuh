#pragma once

#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/zip_iterator.h>

#include <limits>
#include <type_traits>

/// Each type is instantiated in a file of its own: there are many kernels.
namespace heddle::bench {

template <class To, class T>
__device__ To converted(T x) {
    if constexpr (sizeof(T) == 2)
        return static_cast<To>(static_cast<float>(x));
    else
        return static_cast<To>(x);
}

template <class R>
struct scaled_element {
    R factor;
    template <class T>
    __device__ R operator()(T x) const {
        return converted<R>(x) * factor;
    }
};
template <class R>
struct pair_product {
    template <class Pair>
    __device__ R operator()(const Pair& pair) const {
        return converted<R>(thrust::get<0>(pair)) * converted<R>(thrust::get<1>(pair));
    }
};
template <class R>
struct magnitude_of {
    template <class T>
    __device__ R operator()(T x) const {
        const R value = converted<R>(x);
        if constexpr (std::is_floating_point_v<R>)
            return ::fabs(value);
        else
            return value < 0 ? -value : value;
    }
};
template <class R>
struct square_of {
    template <class T>
    __device__ R operator()(T x) const {
        return converted<R>(x) * converted<R>(x);
    }
};
struct one_of_nonzero {
    template <class T>
    __device__ std::int64_t operator()(T x) const {
        return converted<compute_type<T>>(x) != 0 ? 1 : 0;
    }
};

template <class R, class Input, class Transform>
void transform_sum(Input x, int size, void* result, std::span<std::byte> scratch, Transform transform) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceReduce::TransformReduce(scratch.data(), bytes, x, static_cast<R*>(result), size,
                                             cuda::std::plus<R>{}, transform, R{}, stream().get()));
}

/// The place of the extremum; itself it goes to the beginning of the scratch memory.
template <class T, class Call>
void place(std::span<std::byte> scratch, Call call) {
    constexpr std::size_t extremum_bytes = 256;
    std::size_t bytes = scratch.size() - extremum_bytes;
    check(call(scratch.data() + extremum_bytes, bytes, reinterpret_cast<T*>(scratch.data())));
}

template <class T>
void cub_reduce(reduce_operation operation, const T* x, const T* y, std::int64_t size, void* result,
                std::span<std::byte> scratch) {
    using R = sum_type<T>;
    // CUB is fastest with 32-bit sizes.
    if (size > std::numeric_limits<int>::max()) throw unsupported("more elements than an int counts");
    const int count = static_cast<int>(size);
    std::size_t bytes = scratch.size();
    const auto to = static_cast<std::int64_t*>(result);
    switch (operation) {
        case reduce_operation::sum:
            if constexpr (std::is_same_v<T, R>)
                return check(cub::DeviceReduce::Sum(scratch.data(), bytes, x, static_cast<R*>(result), count,
                                                    stream().get()));
            else  // Sum would accumulate in T
                return check(cub::DeviceReduce::Reduce(scratch.data(), bytes, x, static_cast<R*>(result),
                                                       count, cuda::std::plus<R>{}, R{}, stream().get()));
        case reduce_operation::mean:
            return transform_sum<mean_type<T>>(
                x, count, result, scratch,
                scaled_element<mean_type<T>>{mean_type<T>(1) / static_cast<mean_type<T>>(size)});
        case reduce_operation::min:
            return check(cub::DeviceReduce::Min(scratch.data(), bytes, x, static_cast<T*>(result), count,
                                                stream().get()));
        case reduce_operation::max:
            return check(cub::DeviceReduce::Max(scratch.data(), bytes, x, static_cast<T*>(result), count,
                                                stream().get()));
        case reduce_operation::argmin:
            return place<T>(scratch, [&](auto* rest, std::size_t& left, T* extremum) {
                return cub::DeviceReduce::ArgMin(rest, left, x, extremum, to, size, stream().get());
            });
        case reduce_operation::argmax:
            return place<T>(scratch, [&](auto* rest, std::size_t& left, T* extremum) {
                return cub::DeviceReduce::ArgMax(rest, left, x, extremum, to, size, stream().get());
            });
        case reduce_operation::dot:
            return transform_sum<R>(thrust::make_zip_iterator(x, y), count, result, scratch,
                                    pair_product<R>{});
        case reduce_operation::norm1:
            return transform_sum<R>(x, count, result, scratch, magnitude_of<R>{});
        case reduce_operation::norm2:
            return transform_sum<R>(x, count, result, scratch, square_of<R>{});
        case reduce_operation::count_nonzero:
            return transform_sum<std::int64_t>(x, count, result, scratch, one_of_nonzero{});
    }
}

}  // namespace heddle::bench
