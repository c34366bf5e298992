#pragma once

#include <cuda_runtime_api.h>

namespace heddle::detail {

/// For destructors, which cannot report: drops the status, and clears it so that no later check picks it up.
inline void ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace heddle::detail
