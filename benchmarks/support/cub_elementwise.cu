#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include <concepts>

namespace heddle::bench {
namespace {

template <class T>
using compute_type = std::conditional_t<std::same_as<T, double>, double, float>;

struct sum_of_two {
    template <class T>
    __device__ T operator()(T x, T y) const {
        return static_cast<T>(static_cast<compute_type<T>>(x) + static_cast<compute_type<T>>(y));
    }
};

/// The fastest form: its error is larger than heddle's.
struct fast_sigmoid {
    __device__ double operator()(double x) const { return 1 / (1 + exp(-x)); }
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(__fdividef(1.0f, 1.0f + __expf(-static_cast<float>(x))));
    }
};

/// These are as one writes them, in float.
struct plain_gelu {
    template <class T>
    __device__ T operator()(T x) const {
        const float value = static_cast<float>(x);
        return static_cast<T>(value * 0.5f * erfcf(value * -0.70710678f));
    }
};
struct plain_silu {
    template <class T>
    __device__ T operator()(T x) const {
        const float value = static_cast<float>(x);
        return static_cast<T>(value / (1.0f + expf(-value)));
    }
};

}  // namespace

template <class T>
void cub_add(const T* x, const T* y, T* z, std::int64_t size) {
    check(
        cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), z, size, sum_of_two{}, stream().get()));
}

template <class T>
void cub_sigmoid(const T* x, T* y, std::int64_t size) {
    check(cub::DeviceTransform::Transform(x, y, size, fast_sigmoid{}, stream().get()));
}

template <class T>
void cub_gelu(const T* x, T* y, std::int64_t size) {
    check(cub::DeviceTransform::Transform(x, y, size, plain_gelu{}, stream().get()));
}

template <class T>
void cub_silu(const T* x, T* y, std::int64_t size) {
    check(cub::DeviceTransform::Transform(x, y, size, plain_silu{}, stream().get()));
}

template void cub_add(const double*, const double*, double*, std::int64_t);
template void cub_add(const float*, const float*, float*, std::int64_t);
template void cub_add(const half*, const half*, half*, std::int64_t);
template void cub_add(const bfloat16*, const bfloat16*, bfloat16*, std::int64_t);
template void cub_sigmoid(const double*, double*, std::int64_t);
template void cub_sigmoid(const float*, float*, std::int64_t);
template void cub_sigmoid(const half*, half*, std::int64_t);
template void cub_sigmoid(const bfloat16*, bfloat16*, std::int64_t);
template void cub_gelu(const float*, float*, std::int64_t);
template void cub_gelu(const half*, half*, std::int64_t);
template void cub_silu(const float*, float*, std::int64_t);
template void cub_silu(const half*, half*, std::int64_t);

}  // namespace heddle::bench
