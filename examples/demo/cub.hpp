#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace demo::cub {

// CUB's version of each operation. `scratch_bytes` of `scratch` are enough for each of them up to 2^31 elements.

inline constexpr std::size_t scratch_bytes = std::size_t{64} << 20;

cudaError_t add(const float* x, const float* y, float* z, int size, cudaStream_t stream);
cudaError_t sigmoid(const float* x, float* y, int size, cudaStream_t stream);
cudaError_t gelu(const float* x, float* y, int size, cudaStream_t stream);
cudaError_t sum(const float* x, int size, float* result, void* scratch, cudaStream_t stream);
cudaError_t min(const float* x, int size, float* result, void* scratch, cudaStream_t stream);
cudaError_t max(const float* x, int size, float* result, void* scratch, cudaStream_t stream);
cudaError_t inclusive_scan(const float* x, float* y, int size, void* scratch, cudaStream_t stream);
/// Makes 256 counts of 32 bits, CUB's fastest type.
cudaError_t histogram(const std::uint8_t* x, int size, std::int32_t* counts, void* scratch,
                      cudaStream_t stream);

}  // namespace demo::cub
