#pragma once

#include <heddle/device.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::matmul {

/// C = alpha * A * B + beta * C, shapes in agreement, C not empty. C's rows are the more contiguous: the
/// caller has turned C^T = B^T A^T around where they were not.
struct arguments {
    matrix_view<const float> a;
    matrix_view<const float> b;
    matrix_view<float> c;
    float alpha = 1;
    float beta = 0;
};

void launch_naive(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_coalesced(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_tiled(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_shared_memory(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_register_tiled(const arguments& arguments, const device_traits& device, cudaStream_t stream);
/// Needs a unit stride along one dimension of A and of B, and cp.async (compute capability 8.0).
void launch_pipelined(const arguments& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::matmul
