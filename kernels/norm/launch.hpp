#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::norm {

/// x and y are of equal shape, with at least one element; y is x or apart from all others. gamma and beta have
/// x.cols elements, or none.
template <class T>
struct arguments {
    matrix_view<const T> x;
    vector_view<const T> gamma;
    vector_view<const T> beta;
    matrix_view<T> y;
    float epsilon;
};

/// layer_norm, which subtracts the mean, where `centred`; else rms_norm.
template <bool centred, class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <bool centred, class T>
void launch_block_per_row(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs col_stride 1 in x and y, and stride 1 in gamma and beta (or a single column).
template <bool centred, class T>
void launch_vectorized(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::norm
