#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

/// A CUDA runtime of two devices that do nothing. recording_runtime.cpp defines its functions in the test program, so
/// that the library's calls reach them instead of libcudart's. They record what was enqueued, and the current device.
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
    bool has_pool_memory = true;
    bool is_capturing = false;
    bool are_events_done = true;

    std::ptrdiff_t count(std::string_view function) const {
        return std::ranges::count(calls, function, &call::function);
    }

    static recording_runtime& instance() {
        static recording_runtime runtime;
        return runtime;
    }

    /// The handle of a stream of a device, of which there are several. It has no stream behind it.
    static cudaStream_t stream_of(int device, int number = 0) {
        return std::bit_cast<cudaStream_t>(first_handle +
                                           static_cast<std::uintptr_t>(number * devices + device));
    }
    static int device_of(cudaStream_t stream) {
        return static_cast<int>((std::bit_cast<std::uintptr_t>(stream) - first_handle) % devices);
    }

    static constexpr int sm_count(int device) { return device == 0 ? 132 : 20; }

  private:
    static constexpr std::uintptr_t first_handle = 0x1000;
};

/// Addresses that nothing reads. Their distance is the size of the largest operand.
template <class T>
T* far_address(std::uintptr_t operand) {
    return std::bit_cast<T*>((operand + 1) << 40);
}

}  // namespace heddle::test
