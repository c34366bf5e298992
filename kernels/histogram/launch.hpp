#pragma once

#include <heddle/device.hpp>
#include <heddle/histogram.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::histogram {

/// Equal parts of [lower, upper); scale is bins / (upper - lower). Bytes need none of it.
struct range {
    float lower = 0;
    float upper = 0;
    float scale = 0;
};

/// x is not empty; its stride is 1 where it has one element. `counts` are zero.
template <class T>
struct arguments {
    vector_view<const T> x;
    unsigned long long* counts;
    int bins;
    histogram::range range;
};

template <class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs bins of at most histogram_max_shared_bins.
template <class T>
void launch_shared_memory(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs bins of at most histogram_max_shared_bins, and stride 1.
template <class T>
void launch_vectorized(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::histogram
