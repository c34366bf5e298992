#include "tests/histogram/counting.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>

#include <cmath>
#include <limits>

namespace heddle {
namespace {

using test::bin_counts;
using test::counted_elements;
using test::guarded;
using test::value_range;

template <class T>
class histogram_edges : public test::histogram_test {};
using element_types = testing::Types<std::uint8_t, float>;
TYPED_TEST_SUITE(histogram_edges, element_types, test::type_names);

TYPED_TEST(histogram_edges, takes_every_stride) {
    for (const std::int64_t size : {0, 1, 2, 257, 100003})
        for (const std::int64_t stride : {2, 7})
            ASSERT_NO_FATAL_FAILURE(this->check(counted_elements<TypeParam>(size), 256, 1, stride));
}

TYPED_TEST(histogram_edges, takes_elements_of_one_value) {
    for (const std::int64_t size : {1000, 5000001})
        ASSERT_NO_FATAL_FAILURE(
            this->check(std::vector<TypeParam>(static_cast<std::size_t>(size), TypeParam{0}), 256));
}

class histogram_edges_of_floats : public test::histogram_test {};

/// Frequent bins among many: in equal steps, side by side, with others that occur once, and in runs.
TEST_F(histogram_edges_of_floats, takes_few_values_of_many_bins) {
    constexpr std::int64_t bins = 65536;
    const value_range range{0, static_cast<float>(bins)};
    test::drawing draw;
    for (const std::int64_t size : {1023, 1024, 1025, 300007})
        for (const std::int64_t values : {1, 2, 31, 64, 300, 5000})
            for (const std::int64_t step : {1, 13}) {
                std::vector<float> frequent(static_cast<std::size_t>(size)), runs = frequent;
                for (std::size_t i = 0; i < frequent.size(); ++i) {
                    const bool is_rare = values < 300 && draw(0, 3) == 0;
                    frequent[i] =
                        static_cast<float>(is_rare ? draw(-9, bins + 9) : step * draw(0, values - 1));
                    runs[i] = static_cast<float>(step * (static_cast<std::int64_t>(i) * values / size));
                }
                ASSERT_NO_FATAL_FAILURE(check(frequent, bins, 0, 1, range));
                ASSERT_NO_FATAL_FAILURE(check(runs, bins, 1, values == 31 ? 2 : 1, range));
            }
}

TEST_F(histogram_edges_of_floats, ignores_what_is_outside_and_nan) {
    using limits = std::numeric_limits<float>;
    const value_range range{-3, 5};
    std::vector<float> xs = {range.lower,
                             range.upper,
                             std::nextafter(range.lower, -10.0f),
                             std::nextafter(range.upper, -10.0f),
                             limits::quiet_NaN(),
                             -limits::quiet_NaN(),
                             limits::infinity(),
                             -limits::infinity(),
                             limits::max(),
                             limits::lowest(),
                             limits::denorm_min(),
                             -0.0f,
                             0.0f};
    for (int i = 0; i <= 24; ++i) xs.push_back(range.lower + static_cast<float>(i) / 3);
    for (const std::int64_t bins : {1, 7, 24, 256}) {
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, range));
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, {0, limits::max()}));
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, {-limits::max() / 2, limits::max() / 2}));
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, {-0x1p-100f, 0x1p-100f}));
    }
}

class large_histogram : public test::histogram_test {};

TEST_F(large_histogram, counts_beyond_32_bits) {
    constexpr std::int64_t size = (std::int64_t{1} << 32) + 77;
    std::size_t free = 0, total = 0;
    heddle::check(cudaMemGetInfo(&free, &total));
    if (free < 5 * (std::size_t{1} << 30)) GTEST_SKIP() << "needs 5 GiB of device memory";
    device_buffer<std::uint8_t> x(size, *stream);
    fill_bytes(x, std::byte{9}, *stream);
    for (const histogram_algorithm algorithm :
         {histogram_algorithm::shared_memory, histogram_algorithm::vectorized}) {
        guarded<std::int64_t> result(256);
        histogram(x, result.vector(), *stream, {.algorithm = algorithm});
        stream->synchronize();
        bin_counts expected(256);
        expected[9] = size;
        EXPECT_EQ(result.download(), expected) << to_string(algorithm);
    }
}

}  // namespace
}  // namespace heddle
