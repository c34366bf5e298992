#pragma once

#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

namespace heddle::test {

template <class>
__global__ void tell_architecture(bool* is_90a) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    *is_90a = true;
#else
    *is_90a = false;
#endif
}

/// Whether the current device runs the including file's code for 90a.
inline bool is_compiled_for_90a() {
    bool* answer = nullptr;
    check(cudaMallocManaged(&answer, sizeof(bool)));
    tell_architecture<void><<<1, 1>>>(answer);
    check(cudaDeviceSynchronize());
    const bool result = *answer;
    check(cudaFree(answer));
    return result;
}

}  // namespace heddle::test
