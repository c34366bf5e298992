#pragma once

#include <heddle/device.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

namespace heddle::test {

inline bool has_gpu() {
    return device_count() > 0;
}

/// For tests that launch kernels: skips, and says so, where there is no device.
class gpu_test : public testing::Test {
  protected:
    void SetUp() override {
        if (!has_gpu()) GTEST_SKIP() << "no CUDA device";
    }
};

}  // namespace heddle::test
