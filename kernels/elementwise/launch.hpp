#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::elementwise {

/// The functors, defined for the device in functors.cuh.
struct add;
struct sigmoid;

/// Operands of equal shape. Row-major and collapsed to one row by the caller where that is possible.
template <class T>
struct arguments {
    matrix_view<const T> x;
    matrix_view<const T> y;  ///< for functors of two inputs
    matrix_view<T> z;
};

template <class Functor, class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <class Functor, class T>
void launch_grid_stride(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs col_stride 1 in every operand (or a single column).
template <class Functor, class T>
void launch_vectorized(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::elementwise
