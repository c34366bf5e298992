#include "tests/support/gpu.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/elementwise.cuh>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace heddle {
namespace {

using every_float = test::gpu_test;

struct verdict {
    unsigned long long worst_bits;    ///< of the largest error in ulp, a double: they order as integers do
    unsigned long long not_a_number;  ///< results that are NaN where the exact one is not, or the reverse
};

__global__ void make_floats(float* x, std::uint32_t first, std::int64_t size) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size) x[i] = __uint_as_float(first + static_cast<std::uint32_t>(i));
}

/// In units of the distance between floats at the exact value.
__device__ double error_in_ulp(float actual, double exact) {
    constexpr int smallest_exponent = -126, digits = 23;
    int exponent = 0;
    frexp(exact, &exponent);
    return fabs(actual - exact) / ldexp(1.0, max(exponent - 1, smallest_exponent) - digits);
}

struct exact_sigmoid {
    __device__ double operator()(double x) const {
        const double e = ::exp(-fabs(x));
        return (x < 0 ? e : 1) / (1 + e);
    }
};
struct exact_gelu {
    __device__ double operator()(double x) const {
        const double cdf = ::normcdf(x);
        return cdf == 0 ? 0 : x * cdf;
    }
};

template <class Exact>
__global__ void compare(Exact exact_at, const float* x, const float* y, std::int64_t size, verdict* result) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const double exact = exact_at(x[i]);
    if (isnan(exact) != isnan(y[i])) atomicAdd(&result->not_a_number, 1);
    if (isnan(exact) || isnan(y[i]) || isinf(exact)) return;
    atomicMax(&result->worst_bits,
              static_cast<unsigned long long>(__double_as_longlong(error_in_ulp(y[i], exact))));
}

/// The largest error of all 2^32 inputs, against float64.
template <class Exact, class Function>
double worst_ulp(Exact exact, Function function) {
    constexpr std::int64_t chunk = 1 << 28;
    constexpr unsigned threads = 256, blocks = chunk / threads;
    const stream s;
    device_buffer<float> x(chunk, s), y(chunk, s);
    device_buffer<verdict> result(1, s);
    fill_zero(result, s);
    for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += chunk) {
        make_floats<<<blocks, threads, 0, s.get()>>>(x.data(), static_cast<std::uint32_t>(first), chunk);
        function(x, y, s);
        compare<<<blocks, threads, 0, s.get()>>>(exact, x.data(), y.data(), chunk, result.data());
    }
    std::array<verdict, 1> found{};
    copy_and_wait(result, found, s);
    EXPECT_EQ(found[0].not_a_number, 0u);
    double worst = 0;
    std::memcpy(&worst, &found[0].worst_bits, sizeof(worst));
    testing::Test::RecordProperty("worst_ulp", std::to_string(worst));
    return worst;
}

TEST_F(every_float, has_a_sigmoid_within_two_ulp) {
    EXPECT_LE(worst_ulp(exact_sigmoid{}, [](auto& x, auto& y, const stream& s) { sigmoid<float>(x, y, s); }),
              2);
}

/// 10 u (docs/accuracy.md): an ulp is between u and 2 u of the exact value.
TEST_F(every_float, has_a_gelu_within_ten_ulp) {
    EXPECT_LE(worst_ulp(exact_gelu{}, [](auto& x, auto& y, const stream& s) { gelu<float>(x, y, s); }), 10);
}

}  // namespace
}  // namespace heddle
