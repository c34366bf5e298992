#pragma once

#include <cuda_runtime_api.h>

namespace heddle::detail {

/// Drops a status, and clears it so that no later check reports it. Destructors use it, as they cannot throw.
inline void ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace heddle::detail
