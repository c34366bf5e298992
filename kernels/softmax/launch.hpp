#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::softmax {

/// x and y have the same shape and at least one element; y is x or apart from it.
template <class T>
struct arguments {
    matrix_view<const T> x;
    matrix_view<T> y;
};

/// These compute softmax or its logarithm.
template <bool logarithm, class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <bool logarithm, class T>
void launch_online(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs col_stride 1 in x and y (or a single column).
template <bool logarithm, class T>
void launch_vectorized(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::softmax
