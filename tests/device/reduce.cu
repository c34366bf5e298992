#include "kernels/device/block_reduce.cuh"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace heddle::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct add {
    template <class T>
    static __device__ T identity() {
        return T{0};
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

struct largest {
    template <class T>
    static __device__ T identity() {
        return -infinity;
    }
    __device__ float operator()(float a, float b) const { return kernels::ptx::max_nan(a, b); }
};

/// Each warp gets its own result; threads past `size` contribute the identity.
template <class Operation, class T>
__global__ void reduce_warps(const T* in, int size, T* out) {
    const int i = static_cast<int>(threadIdx.x);
    T value = i < size ? in[i] : Operation::template identity<T>();
    value = kernels::warp_reduce(value, Operation{});
    if (i % kernels::warp_size == 0) out[i / kernels::warp_size] = value;
}

/// Reduces the elements in order, then in the opposite order of threads: two calls that share their memory.
template <class Operation, class T>
__global__ void reduce_block_twice(const T* in, int size, T* out) {
    const int i = static_cast<int>(threadIdx.x);
    const int opposite = static_cast<int>(blockDim.x) - 1 - i;
    const T identity = Operation::template identity<T>();
    const T first = kernels::block_reduce(i < size ? in[i] : identity, Operation{});
    __syncthreads();
    const T second = kernels::block_reduce(opposite < size ? in[opposite] : identity, Operation{});
    if (i == 0) {
        out[0] = first;
        out[1] = second;
    }
}

/// Each thread stores the values that its increments returned.
__global__ void increment(unsigned* counter, unsigned last, int times, unsigned* returned) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < times; ++i)
        returned[thread * times + i] = kernels::ptx::atomic_increment(counter, last);
}

/// The last block to arrive adds the values that all blocks have written before.
__global__ void add_by_the_last_block(unsigned* counter, int* written, int* sum) {
    if (threadIdx.x != 0) return;
    written[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    if (kernels::ptx::atomic_increment(counter, gridDim.x - 1) != gridDim.x - 1) return;
    int total = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) total += __ldcg(&written[block]);
    *sum = total;
}

class device_reduce : public gpu_test {
  protected:
    template <class Operation, class T>
    static std::vector<T> warps(const std::vector<T>& elements, int threads) {
        const auto size = static_cast<std::int64_t>(elements.size());
        guarded<T> in(size), out(threads / kernels::warp_size);
        in.upload(elements);
        reduce_warps<Operation><<<1, threads>>>(in.data(), static_cast<int>(size), out.data());
        check(cudaGetLastError());
        EXPECT_TRUE(out.canaries_alive());
        return out.download();
    }

    template <class Operation, class T>
    static std::vector<T> block_twice(const std::vector<T>& elements, int threads) {
        const auto size = static_cast<std::int64_t>(elements.size());
        guarded<T> in(size), out(2);
        in.upload(elements);
        reduce_block_twice<Operation><<<1, threads>>>(in.data(), static_cast<int>(size), out.data());
        check(cudaGetLastError());
        EXPECT_TRUE(out.canaries_alive());
        return out.download();
    }
};

TEST_F(device_reduce, of_a_warp_adds_up_all_lanes_and_no_others) {
    for (const int size : {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 95, 96}) {
        SCOPED_TRACE(size);
        const auto elements = random_elements<std::int64_t>(size, -0x1p40, 0x1p40);
        std::vector<std::int64_t> expected(3);
        for (std::size_t i = 0; i < elements.size(); ++i) expected[i / 32] += elements[i];
        EXPECT_EQ((warps<add>(elements, 96)), expected);
    }
}

TEST_F(device_reduce, of_a_block_adds_up_all_threads) {
    for (int threads = 32; threads <= 1024; threads += 32)
        for (const int size : {1, 31, 32, 33, threads / 2 + 1, threads - 1, threads}) {
            if (size > threads) continue;
            SCOPED_TRACE(testing::Message() << size << " elements, " << threads << " threads");
            const auto elements = random_elements<std::int64_t>(size, -0x1p40, 0x1p40);
            const std::int64_t sum = std::accumulate(elements.begin(), elements.end(), std::int64_t{0});
            ASSERT_EQ((block_twice<add>(elements, threads)), std::vector<std::int64_t>(2, sum));
        }
}

TEST_F(device_reduce, of_floats_takes_no_more_additions_than_its_depth) {
    for (const int threads : {32, 64, 96, 512, 1024}) {
        SCOPED_TRACE(threads);
        const auto elements = random_elements<float>(threads);
        double sum = 0, magnitude = 0;
        for (const float element : elements) {
            sum += double{element};
            magnitude += std::abs(double{element});
        }
        const auto bound = [&](int depth) {
            const double du = depth * unit_roundoff<float>();
            return du / (1 - du) * magnitude;
        };
        const int depth = threads == 32 ? kernels::warp_reduce_depth : kernels::block_reduce_depth;
        const auto results = block_twice<add>(elements, threads);
        for (const float result : results) EXPECT_TRUE(is_within(double{result}, sum, bound(depth)));
        EXPECT_EQ((block_twice<add>(elements, threads)), results) << "not the same order every time";
    }
}

TEST_F(device_reduce, passes_nan_from_every_thread_on) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const int threads : {32, 64, 1024})
        for (int at = 0; at < threads; at += threads <= 64 ? 1 : 31) {
            SCOPED_TRACE(testing::Message() << "thread " << at << " of " << threads);
            auto elements = random_elements<float>(threads);
            elements[static_cast<std::size_t>(at)] = 2;
            for (const float result : block_twice<largest>(elements, threads)) ASSERT_EQ(result, 2);
            elements[static_cast<std::size_t>(at)] = nan;
            for (const float result : block_twice<largest>(elements, threads))
                ASSERT_TRUE(std::isnan(result)) << result;
        }
}

class device_atomic_increment : public gpu_test {};

TEST_F(device_atomic_increment, wraps_after_the_last) {
    for (const unsigned last : {0u, 1u, 6u}) {
        SCOPED_TRACE(last);
        constexpr int times = 20;
        guarded<unsigned> counter(1), returned(times);
        counter.upload({0});
        increment<<<1, 1>>>(counter.data(), last, times, returned.data());
        check(cudaGetLastError());
        const std::vector<unsigned> results = returned.download();
        for (unsigned i = 0; i < times; ++i) EXPECT_EQ(results[i], i % (last + 1));
        EXPECT_EQ(counter.download()[0], times % (last + 1));
        EXPECT_TRUE(counter.canaries_alive());
        EXPECT_TRUE(returned.canaries_alive());
    }
}

TEST_F(device_atomic_increment, gives_each_number_equally_often) {
    constexpr unsigned last = 99;
    constexpr int blocks = 500, threads = 96, times = 5;
    guarded<unsigned> counter(1), returned(blocks * threads * times);
    counter.upload({0});
    increment<<<blocks, threads>>>(counter.data(), last, times, returned.data());
    check(cudaGetLastError());
    std::vector<int> seen(last + 1);
    for (const unsigned result : returned.download()) {
        ASSERT_LE(result, last);
        ++seen[result];
    }
    EXPECT_EQ(seen, std::vector<int>(last + 1, blocks * threads * times / static_cast<int>(last + 1)));
    EXPECT_EQ(counter.download()[0], 0u);
}

TEST_F(device_atomic_increment, shows_the_last_block_what_the_others_wrote) {
    constexpr int blocks = 1000;
    guarded<unsigned> counter(1);
    counter.upload({0});
    for (int round = 0; round < 50; ++round) {
        guarded<int> written(blocks), sum(1);
        add_by_the_last_block<<<blocks, 32>>>(counter.data(), written.data(), sum.data());
        check(cudaGetLastError());
        ASSERT_EQ(sum.download()[0], blocks * (blocks + 1) / 2);
        ASSERT_EQ(counter.download()[0], 0u);
    }
}

}  // namespace
}  // namespace heddle::test
