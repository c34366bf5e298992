#pragma once

#include <cuda_runtime_api.h>

namespace heddle::kernels::ptx {

/// The address of shared memory as instructions take it. In a cluster its upper bits hold the block's rank.
__device__ inline unsigned shared_address(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

}  // namespace heddle::kernels::ptx
