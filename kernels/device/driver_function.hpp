#pragma once

#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <string>

namespace heddle::kernels {

/// A function of the driver as of this CUDA version. The runtime looks it up: heddle does not link the driver.
/// @throws unsupported  the driver does not have it
template <class Function>
Function* driver_function(const char* name, unsigned version) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess || function == nullptr)
        throw unsupported(std::string("the NVIDIA driver is too old: it has no ") + name);
    return reinterpret_cast<Function*>(function);
}

}  // namespace heddle::kernels
