// A user's .cu file: the public headers' templates through nvcc, beside the user's own kernel.

#include "tests/support/gpu.hpp"
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

__global__ void increment(float* x, std::int64_t size) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size) x[i] += 1;
}

using cuda_source = heddle::test::gpu_test;

TEST_F(cuda_source, mixes_kernels_of_ones_own_with_heddles) {
    constexpr std::int64_t rows = 4, cols = 30, size = rows * cols;
    const heddle::stream stream;
    std::vector<float> x(size, 1.0f);
    heddle::device_buffer<float> a(size, stream), b(size, stream), sum(1, stream);
    heddle::copy(x, a, stream);
    heddle::fill_zero(b, stream);

    const heddle::graph graph = heddle::graph::capture(stream, [&] {
        increment<<<1, 128, 0, stream.get()>>>(a.data(), size);
        heddle::add<float>(a, b, b, stream);
    });
    graph.launch(stream);
    heddle::workspace scratch(
        heddle::reduce_workspace_bytes({.x = {size}}, heddle::traits_of(heddle::current_device())), stream);
    heddle::sum<float>(b, sum.data(), stream, {.workspace = scratch});
    heddle::copy(heddle::matrix_view{b.data(), rows, cols}, heddle::matrix_view{x.data(), rows, cols},
                 stream);
    std::vector<float> total(1);
    heddle::copy_and_wait(sum, total, stream);

    EXPECT_EQ(total[0], 2.0f * size);
    EXPECT_EQ(x, std::vector<float>(size, 2.0f));
}

}  // namespace
