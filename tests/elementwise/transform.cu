#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include <heddle/elementwise.cuh>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heddle {
namespace {

using test::guarded;
using test::random_elements;

struct leaky {
    float slope;
    __device__ float operator()(float x) const { return x < 0 ? slope * x : x; }
};

struct rotated_sum {
    __device__ std::uint8_t operator()(std::uint8_t x, std::uint8_t y) const {
        return static_cast<std::uint8_t>(x + 3 * y);
    }
};

struct mixed {
    __device__ double operator()(double x, double y, double z) const { return x < y ? z : -z; }
};

using transform_test = test::gpu_test;

TEST_F(transform_test, applies_a_functor_of_ones_own) {
    const stream s;
    for (const std::int64_t offset : {0, 1}) {
        const std::int64_t size = 10007;
        const auto xs = random_elements<float>(size);
        guarded<float> x(size, offset), y(size, offset);
        x.upload(xs);
        transform<float>(leaky{0.25f}, x.vector(), y.vector(), s);
        s.synchronize();
        const auto ys = y.download();
        for (std::size_t i = 0; i < ys.size(); ++i) ASSERT_EQ(ys[i], xs[i] < 0 ? 0.25f * xs[i] : xs[i]);
        EXPECT_TRUE(y.canaries_alive());
    }
}

TEST_F(transform_test, takes_bytes_and_two_inputs) {
    const stream s;
    const std::int64_t rows = 33, cols = 1001, stride = 1008;
    const auto xs = random_elements<std::uint8_t>(rows * cols, 0, 255),
               ys = random_elements<std::uint8_t>(rows * cols, 0, 255);
    guarded<std::uint8_t> x(rows, cols, stride), y(rows, cols, stride), z(rows, cols, stride);
    x.upload(xs);
    y.upload(ys);
    transform<std::uint8_t>(rotated_sum{}, x.matrix(), y.matrix(), z.matrix(), s);
    s.synchronize();
    const auto zs = z.download();
    for (std::size_t i = 0; i < zs.size(); ++i)
        ASSERT_EQ(zs[i], static_cast<std::uint8_t>(xs[i] + 3 * ys[i]));
    EXPECT_TRUE(z.canaries_alive());
}

TEST_F(transform_test, takes_three_inputs_in_place) {
    const stream s;
    const std::int64_t size = 4099;
    const auto xs = random_elements<double>(size), ys = random_elements<double>(size),
               zs = random_elements<double>(size);
    guarded<double> x(size), y(size), z(size);
    x.upload(xs);
    y.upload(ys);
    z.upload(zs);
    transform<double>(mixed{}, x.vector(), y.vector(), z.vector(), z.vector(), s);
    s.synchronize();
    const auto out = z.download();
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], xs[i] < ys[i] ? zs[i] : -zs[i]);
    EXPECT_TRUE(z.canaries_alive());
}

TEST(transform_arguments, are_checked_as_those_of_add) {
    float x[8] = {}, y[8] = {};
    EXPECT_THROW(
        transform<float>(leaky{1}, vector_view<float>{x, 7}, vector_view<float>{y, 8}, cudaStream_t{}),
        invalid_argument);
    EXPECT_THROW(
        transform<float>(leaky{1}, vector_view<float>{x, 7}, vector_view<float>{x + 1, 7}, cudaStream_t{}),
        invalid_argument);
    EXPECT_NO_THROW(transform<float>(leaky{1}, vector_view<float>{nullptr, 0}, vector_view<float>{nullptr, 0},
                                     cudaStream_t{}));
}

}  // namespace
}  // namespace heddle
