#pragma once

#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace heddle::test {

/// The reason why no kernel can run here; empty where one can.
inline std::string why_no_gpu() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess) return count > 0 ? "" : "there is no CUDA device";
    (void)cudaGetLastError();
    return cuda_error(status).what();
}

/// Whether the current device has warpgroup products.
inline bool has_warpgroups() {
    const device_traits& device = traits_of(current_device());
    return device.compute_capability_major == 9 && device.compute_capability_minor == 0;
}

/// Whether the current device has so many bytes free.
inline bool has_free_memory(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    return free >= bytes;
}

/// Whether tests must not pass by being skipped on this machine.
inline bool is_gpu_required() {
    const char* required = std::getenv("HEDDLE_REQUIRE_GPU");
    return required != nullptr && *required != '\0';
}

/// For tests that launch kernels. Where there is no device, it skips and says why, or fails where the environment has
/// HEDDLE_REQUIRE_GPU.
class gpu_test : public testing::Test {
  protected:
    void SetUp() override {
        const std::string reason = why_no_gpu();
        if (reason.empty()) return;
        if (is_gpu_required()) FAIL() << "HEDDLE_REQUIRE_GPU is set: " << reason;
        GTEST_SKIP() << reason;
    }

    /// For the SetUp() of a derived fixture: whether that of the base class succeeded.
    static bool is_set_up() { return !IsSkipped() && !HasFatalFailure(); }
};

/// The same, with a stream.
class stream_fixture : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream.emplace();
    }

    template <class T>
    std::vector<T> read(const T* first, std::int64_t count) {
        std::vector<T> elements(static_cast<std::size_t>(count));
        copy_and_wait(vector_view<const T>{first, count}, elements, *stream);
        return elements;
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
