#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// As instructions take it. In a cluster it has the block's rank in its upper bits.
__device__ inline unsigned shared_address(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

}  // namespace heddle::kernels::ptx
