#pragma once

#include <heddle/device.hpp>
#include <heddle/elementwise.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::elementwise {

/// Operands as heddle::detail::prepare_elementwise() leaves them, none of them empty.
using arguments = detail::elementwise_call;

void launch_naive(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_grid_stride(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_vectorized(const arguments& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::elementwise
