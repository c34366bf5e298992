#include "kernels/device/launch.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/provoked.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

namespace heddle::kernels {
namespace {

using test::cuda_error_of;

struct interval {
    int first;
    std::int64_t last;
};

__global__ void add(std::int64_t a, const __grid_constant__ interval b, double c, std::int64_t* sum) {
    *sum = a + b.first + b.last + static_cast<std::int64_t>(c);
}

/// The position of a thread: its block, its place in the block, and the extents of both grids.
__global__ void describe(int* place) {
    if (blockIdx.x != 1 || blockIdx.y != 2 || blockIdx.z != 3) return;
    if (threadIdx.x != 3 || threadIdx.y != 2 || threadIdx.z != 1) return;
    const unsigned extents[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z};
    for (int i = 0; i < 6; ++i) place[i] = static_cast<int>(extents[i]);
}

/// Needs `bytes` of dynamic shared memory.
__global__ void use_last_byte(int bytes, int* result) {
    extern __shared__ char all[];
    all[bytes - 1] = 7;
    *result = all[bytes - 1];
}

TEST(launch, refuses_extents_that_do_not_fit_a_grid) {
    for (const std::int64_t extent : {std::int64_t{-1}, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1})
        for (const launch_extents& extents :
             {launch_extents{extent}, launch_extents{1, extent}, launch_extents{1, 1, extent}}) {
            const auto in_grid =
                cuda_error_of([&] { launch({.blocks = extents, .threads = {1}}, describe, nullptr); });
            EXPECT_EQ(in_grid.status(), cudaErrorInvalidConfiguration);
            const auto in_block =
                cuda_error_of([&] { launch({.blocks = {1}, .threads = extents}, describe, nullptr); });
            EXPECT_EQ(in_block.status(), cudaErrorInvalidConfiguration);
        }
}

TEST(launch, names_the_place_of_the_launch) {
    const auto here = std::source_location::current();
    const auto error = cuda_error_of([] { launch({.blocks = {-1}, .threads = {1}}, describe, nullptr); });
    EXPECT_STREQ(error.where().file_name(), here.file_name());
    EXPECT_EQ(error.where().line(), here.line() + 1);
}

class launch_on_a_device : public test::gpu_test {};

TEST_F(launch_on_a_device, converts_arguments_as_a_call_does) {
    const stream s;
    device_buffer<std::int64_t> sum(1, s);
    std::vector<std::int64_t> result(1);
    const int a = 1000;
    launch({.blocks = {1}, .threads = {1}, .stream = s.get()}, add, a, {20, 3}, 0.5F + 400, sum.data());
    copy_and_wait(sum, result, s);
    EXPECT_EQ(result[0], 1423);
}

TEST_F(launch_on_a_device, has_the_extents_that_were_asked_for) {
    const stream s;
    device_buffer<int> extents(6, s);
    std::vector<int> result(6);
    launch({.blocks = {2, 3, 4}, .threads = {7, 6, 5}, .stream = s.get()}, describe, extents.data());
    copy_and_wait(extents, result, s);
    EXPECT_EQ(result, (std::vector<int>{2, 3, 4, 7, 6, 5}));
}

TEST_F(launch_on_a_device, takes_the_shared_memory_that_the_limit_allows) {
    const device_traits& device = traits_of(current_device());
    const std::size_t most = device.shared_memory_per_block_optin;
    const stream s;
    device_buffer<int> byte(1, s);
    for (const std::size_t bytes : {std::size_t{1}, most}) {
        std::vector<int> result(1);
        fill_zero(byte, s);
        launch(
            {.blocks = {1}, .threads = {1}, .shared_bytes = bytes, .shared_limit = most, .stream = s.get()},
            use_last_byte, static_cast<int>(bytes), byte.data());
        copy_and_wait(byte, result, s);
        EXPECT_EQ(result[0], 7) << bytes;
    }
}

class launch_errors : public test::provoked_error_test {};

TEST_F(launch_errors, are_those_of_the_launch) {
    for (const auto& [blocks, threads] : {std::pair{1, 4096}, {0, 1}}) {
        EXPECT_THROW(launch({.blocks = {blocks}, .threads = {threads}}, describe, nullptr), cuda_error);
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    }
}

TEST_F(launch_errors, are_not_those_of_an_earlier_call) {
    const stream s;
    device_buffer<int> extents(6, s);
    std::vector<int> result(6);
    ASSERT_NE(cudaSetDevice(-1), cudaSuccess);
    ASSERT_NE(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NO_THROW(
        launch({.blocks = {2, 3, 4}, .threads = {7, 6, 5}, .stream = s.get()}, describe, extents.data()));
    (void)cudaGetLastError();
    copy_and_wait(extents, result, s);
    EXPECT_EQ(result, (std::vector<int>{2, 3, 4, 7, 6, 5}));
}

}  // namespace
}  // namespace heddle::kernels
