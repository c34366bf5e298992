// Calls on every device, with each device as the current one: the bits do not depend on the current device. The test
// runs with one device; tests/stream_device.cpp tells devices apart without any.
#include "tests/support/calls.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/provoked.hpp"
#include <heddle/device.hpp>
#include <heddle/elementwise.cuh>
#include <heddle/graph.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace heddle::test {
namespace {

struct twice {
    __device__ float operator()(float x) const { return 2 * x; }
};

std::vector<named_call> calls() {
    std::vector<named_call> all = calls_of_all_kinds();
    all.push_back({"transform", [](const operand_memory& m, cuda::stream_ref s) {
                       transform<float>(twice{}, m.vector<float>(0), m.vector<float>(2), s);
                   }});
    return all;
}

class devices : public gpu_test, public testing::WithParamInterface<named_call> {
  protected:
    static constexpr unsigned seed = 7;

    /// The memory after the call, on a stream of `device` while `current` is the current device.
    std::vector<std::byte> after(const named_call& call, int device, int current, bool captured = false) {
        std::optional<stream> s;
        {
            const device_guard guard(device);
            s.emplace();
        }
        const device_guard guard(current);
        std::vector<std::byte> bytes(operand_memory::bytes);
        std::mt19937 random(seed);
        const operand_memory host{bytes.data()};
        for (const std::int64_t slot : {0, 1})
            for (std::int64_t i = 0; i < operand_memory::size; ++i)
                host.at<float>(slot)[i] = std::uniform_real_distribution<float>(0, 1)(random);
        device_buffer<std::byte> memory(operand_memory::bytes, *s);
        copy(bytes, memory, *s);
        const auto run = [&] { call.run({memory.data()}, *s); };
        std::optional<graph> recorded;  // it lives until its work is done
        if (captured)
            recorded.emplace(graph::capture(*s, run)).launch(*s);
        else
            run();
        copy_and_wait(memory, bytes, *s);
        EXPECT_EQ(current_device(), current);
        return bytes;
    }
};

TEST_P(devices, give_the_same_bits_whichever_is_current) {
    for (int device = 0; device < device_count(); ++device) {
        const std::vector<std::byte> expected = after(GetParam(), device, device);
        for (int current = 0; current < device_count(); ++current)
            EXPECT_TRUE(after(GetParam(), device, current) == expected) << device << ", " << current;
    }
}

TEST_P(devices, are_the_current_ones_for_the_default_stream) {
    for (int device = 0; device < device_count(); ++device) {
        const device_guard guard(device);
        const cuda::stream_ref s{cudaStream_t{}};
        device_buffer<std::byte> memory(operand_memory::bytes, s);
        fill_zero(memory, s);
        GetParam().run({memory.data()}, s);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_EQ(current_device(), device);
    }
}

INSTANTIATE_TEST_SUITE_P(calls, devices, testing::ValuesIn(calls()),
                         [](const auto& each) { return each.param.name; });

class captured_on_devices : public devices {};

TEST_P(captured_on_devices, give_the_same_bits) {
    const int last = device_count() - 1;
    EXPECT_TRUE(after(GetParam(), last, 0, true) == after(GetParam(), last, last));
}

/// A call that waits cannot be captured.
std::vector<named_call> calls_that_do_not_wait() {
    std::vector<named_call> some = calls();
    std::erase_if(some, [](const named_call& each) { return each.name == "copy_and_wait"; });
    return some;
}

class error_of_an_earlier_call : public provoked_error_test,
                                 public testing::WithParamInterface<named_call> {};

/// A call reports its own errors, and not one that an earlier call left in the thread.
TEST_P(error_of_an_earlier_call, is_not_blamed_on_this_one) {
    const stream s;
    device_buffer<std::byte> memory(operand_memory::bytes, s);
    fill_zero(memory, s);
    s.synchronize();
    void* data = nullptr;
    ASSERT_EQ(cudaMalloc(&data, std::size_t{1} << 60), cudaErrorMemoryAllocation);
    ASSERT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    EXPECT_NO_THROW(GetParam().run({memory.data()}, s));
    EXPECT_NO_THROW(s.synchronize());
    (void)cudaGetLastError();
}

INSTANTIATE_TEST_SUITE_P(calls, error_of_an_earlier_call, testing::ValuesIn(calls()),
                         [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(calls, captured_on_devices, testing::ValuesIn(calls_that_do_not_wait()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace heddle::test
