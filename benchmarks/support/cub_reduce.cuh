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

template <class T>
void cub_reduce(reduce_operation operation, const T* x, const T* y, std::int64_t size, void* result,
                std::span<std::byte> scratch) {
    using R = sum_type<T>;
    // CUB is fastest with 32-bit sizes.
    if (size > std::numeric_limits<int>::max()) throw unsupported("more elements than an int counts");
    const int count = static_cast<int>(size);
    std::size_t bytes = scratch.size();
    const auto stream = bench::stream().get();
    if (operation == reduce_operation::sum) {
        if constexpr (std::is_same_v<T, R>)
            check(cub::DeviceReduce::Sum(scratch.data(), bytes, x, static_cast<R*>(result), count, stream));
        else  // Sum would accumulate in T
            check(cub::DeviceReduce::Reduce(scratch.data(), bytes, x, static_cast<R*>(result), count,
                                            cuda::std::plus<R>{}, R{}, stream));
    }
    if (operation == reduce_operation::mean)
        transform_sum<mean_type<T>>(
            x, count, result, scratch,
            scaled_element<mean_type<T>>{mean_type<T>(1) / static_cast<mean_type<T>>(size)});
    if (operation == reduce_operation::min)
        check(cub::DeviceReduce::Min(scratch.data(), bytes, x, static_cast<T*>(result), count, stream));
    if (operation == reduce_operation::max)
        check(cub::DeviceReduce::Max(scratch.data(), bytes, x, static_cast<T*>(result), count, stream));
    if (operation == reduce_operation::argmin || operation == reduce_operation::argmax) {
        // The extremum itself goes to the beginning of the scratch memory.
        constexpr std::size_t extremum_bytes = 256;
        const auto extremum = reinterpret_cast<T*>(scratch.data());
        const auto place = static_cast<std::int64_t*>(result);
        void* const rest = scratch.data() + extremum_bytes;
        bytes -= extremum_bytes;
        check(operation == reduce_operation::argmin
                  ? cub::DeviceReduce::ArgMin(rest, bytes, x, extremum, place, size, stream)
                  : cub::DeviceReduce::ArgMax(rest, bytes, x, extremum, place, size, stream));
    }
    if (operation == reduce_operation::dot)
        transform_sum<R>(thrust::make_zip_iterator(x, y), count, result, scratch, pair_product<R>{});
    if (operation == reduce_operation::norm1) transform_sum<R>(x, count, result, scratch, magnitude_of<R>{});
    if (operation == reduce_operation::norm2) transform_sum<R>(x, count, result, scratch, square_of<R>{});
    if (operation == reduce_operation::count_nonzero)
        transform_sum<std::int64_t>(x, count, result, scratch, one_of_nonzero{});
}

}  // namespace heddle::bench
