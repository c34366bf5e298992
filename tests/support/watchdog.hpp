#pragma once

#include <heddle/error.hpp>

#include <cuda/stream_ref>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace heddle::test {

/// Waits for the stream. A kernel that hangs would hang every later call too. So the test fails with its name, and
/// the process ends.
inline void synchronize(cuda::stream_ref stream, const std::string& what) {
    constexpr auto limit = std::chrono::seconds(60);  // far above any test, also under compute-sanitizer
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        const cudaError_t status = cudaStreamQuery(stream.get());
        if (status != cudaErrorNotReady) return check(status);
        if (std::chrono::steady_clock::now() - start > limit) break;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    std::fprintf(stderr, "[  FAILED  ] %s.%s: %s hangs\n", test->test_suite_name(), test->name(),
                 what.c_str());
    std::_Exit(1);
}

}  // namespace heddle::test
