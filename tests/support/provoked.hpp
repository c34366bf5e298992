#pragma once

#include "tests/support/gpu.hpp"
#include <heddle/error.hpp>

#include <cuda/stream_ref>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <source_location>
#include <sstream>
#include <string>

namespace heddle::test {

/// Whether the process runs under compute-sanitizer.
inline bool under_compute_sanitizer() {
    std::ifstream mapped("/proc/self/maps");
    for (std::string line; std::getline(mapped, line);)
        if (line.find("sanitizer-collection") != std::string::npos) return true;
    return false;
}

/// For tests that make CUDA calls fail on purpose, which compute-sanitizer would report as findings.
class provoked_error_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up() && under_compute_sanitizer()) GTEST_SKIP() << "provokes CUDA errors on purpose";
    }
};

/// Runs `body` in a process of its own that sees no device. A failed expectation or an exception there fails the
/// test. The test must not have used CUDA before.
template <class Body>
void without_devices(Body body) {
    // A process that has used CUDA keeps its devices: the child must start afresh, not fork.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto hide_devices_and_run = [&] {
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        body();
        std::_Exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    };
    EXPECT_EXIT(hide_devices_and_run(), testing::ExitedWithCode(EXIT_SUCCESS), "");
}

/// The cuda_error that `body` throws; fails the test where it throws none.
template <class Body>
cuda_error cuda_error_of(Body body) {
    try {
        body();
    } catch (const cuda_error& error) {
        return error;
    }
    ADD_FAILURE() << "expected a cuda_error";
    return cuda_error(cudaSuccess);
}

/// The error's text; fails the test where `body` throws none.
template <class Error, class Body>
std::string error_of(Body body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << "expected an error";
    return {};
}
template <class Body>
std::string invalid_argument_of(Body body) {
    return error_of<invalid_argument>(body);
}

/// Expects an error with this text.
template <class Error = invalid_argument, class Body>
void expect_error(const std::string& text, Body body,
                  const std::source_location& at = std::source_location::current()) {
    const testing::ScopedTrace trace(at.file_name(), static_cast<int>(at.line()), "expected here");
    EXPECT_EQ(error_of<Error>(body), text);
}

/// For calls that must not reach a device.
inline const cuda::stream_ref no_stream{cudaStream_t{}};

/// The text of an `unsupported` up to the given values.
inline std::string lack_in(const std::string& text) {
    return text.substr(0, text.find("; given: "));
}

/// An address as errors write it.
inline std::string address_of(const void* pointer) {
    std::ostringstream text;
    text << pointer;
    return text.str();
}

}  // namespace heddle::test
