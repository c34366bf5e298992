#pragma once

#include <heddle/matmul.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::matmul {

template <class In, class Out>
struct function_call;

}  // namespace heddle::kernels::matmul

namespace heddle::kernels::linear {

/// dx * f'(x) -> dx, where x is the result of an activation other than none and f' is its derivative.
template <class T>
void launch_derivative(const matrix_view<const T>& x, const matrix_view<T>& dx, matmul_activation of_x,
                       cudaStream_t stream);
/// The same for the sums of a product before they are stored. x is the product's residual; T is half or bfloat16.
template <class T>
void launch_fused(const matmul::function_call<T, T>& product, matmul_activation of_x, cudaStream_t stream);

}  // namespace heddle::kernels::linear
