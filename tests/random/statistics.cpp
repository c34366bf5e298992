// The distribution of the numbers: the CPU's, which are the GPU's. Seeds are fixed, so that a result is always the
// same. Bounds are five standard deviations of ideal random numbers, plus the rounding to 16 bits.

#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

constexpr std::int64_t size = 1 << 20;
constexpr double sigmas = 5;
constexpr philox generator{.seed = 20240229, .offset = 17};

/// The sum of (count - expected)^2 / expected has the mean of its degrees of freedom and twice that as its variance.
testing::AssertionResult passes_chi_square(const std::vector<double>& counts,
                                           const std::vector<double>& expected) {
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
        sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
    const double freedom = static_cast<double>(counts.size()) - 1;
    if (std::abs(sum - freedom) <= sigmas * std::sqrt(2 * freedom)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "chi-square " << sum << ", " << freedom << " degrees of freedom";
}

/// Counts in equally likely parts; part(x) is in [0, 1).
template <class T>
testing::AssertionResult is_even(const std::vector<T>& numbers, const std::function<double(double)>& part) {
    std::vector<double> counts(256);
    for (const T each : numbers) ++counts[static_cast<std::size_t>(part(to_double(each)) * 256)];
    return passes_chi_square(counts, std::vector<double>(256, static_cast<double>(numbers.size()) / 256));
}

/// The means of (x - center)^k, k = 1 to 4.
template <class T>
std::vector<double> moments(const std::vector<T>& numbers, double center) {
    std::vector<double> sums(5);
    for (const T each : numbers) {
        double power = 1;
        for (double& sum : sums) {
            sum += power / static_cast<double>(numbers.size());
            power *= to_double(each) - center;
        }
    }
    return sums;
}

/// The correlation of numbers `lag` apart, with mean 0 and variance 1: zero, within 1 / sqrt(n) a standard deviation.
double correlation(const std::vector<double>& x, std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < x.size(); ++i) sum += x[i] * x[i + lag];
    return sum / static_cast<double>(x.size() - lag);
}

template <class T>
class random_statistics : public testing::Test {};
using element_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(random_statistics, element_types, type_names);

TYPED_TEST(random_statistics, of_uniform_numbers) {
    std::vector<TypeParam> x(size);
    host::random_uniform<TypeParam>(vector_view<TypeParam>{x.data(), size}, 0, 1, generator);
    const auto m = moments(x, 0.5);
    const double n = static_cast<double>(size), u = unit_roundoff<TypeParam>();
    EXPECT_NEAR(m[1], 0, sigmas * std::sqrt(1 / 12.0 / n) + u);
    EXPECT_NEAR(m[2], 1 / 12.0, sigmas * std::sqrt((1 / 80.0 - 1 / 144.0) / n) + u);
    if constexpr (sizeof(TypeParam) > 2) {
        EXPECT_TRUE(is_even(x, [](double each) { return each; }));
    }
    std::vector<double> scaled;
    for (const TypeParam each : x) scaled.push_back((to_double(each) - 0.5) * std::sqrt(12.0));
    for (const std::size_t lag : {1, 2, 3, 4, 8, 1024})
        EXPECT_NEAR(correlation(scaled, lag), 0, sigmas / std::sqrt(n) + u) << lag;
}

TYPED_TEST(random_statistics, of_normal_numbers) {
    std::vector<TypeParam> x(size);
    host::random_normal<TypeParam>(vector_view<TypeParam>{x.data(), size}, 0, 1, generator);
    const auto m = moments(x, 0);
    const double n = static_cast<double>(size), u = unit_roundoff<TypeParam>();
    EXPECT_NEAR(m[1], 0, sigmas * std::sqrt(1 / n) + u);
    EXPECT_NEAR(m[2], 1, sigmas * std::sqrt(2 / n) + 2 * u);
    EXPECT_NEAR(m[3], 0, sigmas * std::sqrt(15 / n) + 3 * u);
    EXPECT_NEAR(m[4], 3, sigmas * std::sqrt(96 / n) + 12 * u);
    if constexpr (sizeof(TypeParam) > 2) {
        EXPECT_TRUE(is_even(x, [](double each) { return std::erfc(-each / std::sqrt(2.0)) / 2; }));
    }
    std::vector<double> values;
    for (const TypeParam each : x) values.push_back(to_double(each));
    for (const std::size_t lag : {1, 2, 3, 4, 8, 1024})
        EXPECT_NEAR(correlation(values, lag), 0, sigmas / std::sqrt(n) + u) << lag;
}

TEST(random_statistics_of_bernoulli, has_its_probability) {
    for (const double p : {0.0, 0x1p-10, 0.1, 0.5, 0.9, 1.0}) {
        std::vector<std::uint8_t> x(size);
        host::random_bernoulli<std::uint8_t>(vector_view<std::uint8_t>{x.data(), size}, p, generator);
        double ones = 0;
        for (const std::uint8_t each : x) {
            ASSERT_LE(each, 1);
            ones += each;
        }
        const double n = static_cast<double>(size);
        EXPECT_NEAR(ones, n * p, sigmas * std::sqrt(n * p * (1 - p))) << p;
    }
}

TEST(random_statistics_of_bits, every_byte_is_even_and_seeds_are_apart) {
    std::vector<std::uint32_t> x(size), y(size);
    host::random_bits({x.data(), size}, generator);
    host::random_bits({y.data(), size}, {.seed = generator.seed + 1, .offset = generator.offset});
    for (int byte = 0; byte < 4; ++byte)
        EXPECT_TRUE(is_even(x, [byte](double each) {
            return static_cast<double>(static_cast<std::uint32_t>(each) >> 8 * byte & 0xff) / 256;
        }));
    double equal_bits = 0;
    for (std::size_t i = 0; i < x.size(); ++i) equal_bits += 32 - std::popcount(x[i] ^ y[i]);
    const double bits = 32.0 * static_cast<double>(size);
    EXPECT_NEAR(equal_bits, bits / 2, sigmas * std::sqrt(bits / 4));
}

/// Over many seeds, the places of the first two elements: each pair is equally likely.
TEST(random_statistics_of_permutations, pairs_go_everywhere) {
    for (const std::int64_t n : {20, 37, 64}) {
        constexpr int seeds = 200000;
        std::vector<std::int32_t> y(static_cast<std::size_t>(n));
        std::map<std::pair<std::int32_t, std::int32_t>, double> found;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            host::random_permutation({y.data(), n}, {.seed = seed});
            ++found[{y[0], y[1]}];
        }
        const auto pairs = static_cast<double>(n * (n - 1));
        ASSERT_EQ(static_cast<double>(found.size()), pairs);
        std::vector<double> counts;
        for (const auto& [pair, count] : found) counts.push_back(count);
        EXPECT_TRUE(passes_chi_square(counts, std::vector<double>(counts.size(), seeds / pairs))) << n;
    }
}

/// The steps from an element to the next, and the elements that stay in place: their mean and variance are one.
TEST(random_statistics_of_permutations, neighbours_part) {
    for (const std::int64_t n : {60000, (1 << 20) + 7}) {
        std::vector<std::int32_t> y(static_cast<std::size_t>(n));
        host::random_permutation({y.data(), n}, generator);
        std::vector<double> steps(1024);
        for (std::size_t i = 1; i < y.size(); ++i)
            ++steps[static_cast<std::size_t>(((y[i] - y[i - 1] + n) % n) * 1024 / n)];
        EXPECT_TRUE(passes_chi_square(steps, std::vector<double>(1024, static_cast<double>(n - 1) / 1024)))
            << n;
    }
    constexpr int seeds = 2000;
    double fixed = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        std::vector<std::int32_t> y(1000);
        host::random_permutation({y.data(), 1000}, {.seed = seed});
        for (std::int32_t i = 0; i < 1000; ++i) fixed += y[static_cast<std::size_t>(i)] == i ? 1 : 0;
    }
    EXPECT_NEAR(fixed, seeds, sigmas * std::sqrt(static_cast<double>(seeds)));
}

}  // namespace
}  // namespace heddle::test
