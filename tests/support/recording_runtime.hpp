#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

/// A CUDA runtime of two devices that do nothing. The functions of recording_runtime.cpp stand in the test program itself, so
/// that the library's calls find them before libcudart's; they keep what was enqueued, and which device was current then.
struct recording_runtime {
    static constexpr int devices = 2;

    struct call {
        std::string function;
        int current;
        cudaStream_t stream;
        dim3 blocks{};
    };

    int current = 0;
    std::vector<call> calls;
    cudaError_t status_of_launches = cudaSuccess;
    int refused = 0;  ///< launches with another status

    static recording_runtime& instance() {
        static recording_runtime runtime;
        return runtime;
    }

    /// The handle of a stream of a device. There is nothing behind it.
    static cudaStream_t stream_of(int device) {
        return std::bit_cast<cudaStream_t>(std::uintptr_t{0x1000} + static_cast<std::uintptr_t>(device));
    }
    static int device_of(cudaStream_t stream) {
        return static_cast<int>(std::bit_cast<std::uintptr_t>(stream) - 0x1000);
    }

    static constexpr int sm_count(int device) { return device == 0 ? 132 : 20; }
};

}  // namespace heddle::test
