#include "tests/random/draws.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace heddle {
namespace {

using test::guarded;
using test::row_layout;
using test::to_double;

std::vector<std::uint32_t> bits_of(std::int64_t size, const philox& generator) {
    std::vector<std::uint32_t> result(static_cast<std::size_t>(size));
    host::random_bits({result.data(), size}, generator);
    return result;
}

TEST(host_random_bits, are_philox_s_known_answer) {
    EXPECT_EQ(bits_of(4, {}), (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(host_random_bits, go_on_where_an_offset_says) {
    const auto all = bits_of(50000, {.seed = 3, .offset = ~std::uint64_t{0} - 100});
    for (const std::int64_t from : {1, 2, 3, 4, 101, 16384, 40000})
        EXPECT_EQ(bits_of(50000 - from,
                          {.seed = 3, .offset = ~std::uint64_t{0} - 100 + static_cast<std::uint64_t>(from)}),
                  (std::vector<std::uint32_t>{all.begin() + from, all.end()}));
    const std::uint64_t offset = 7;
    EXPECT_EQ(bits_of(9, {.seed = 1, .offset = 2, .device_offset = &offset}),
              bits_of(9, {.seed = 1, .offset = 9}));
}

template <class T>
class host_random : public testing::Test {};
using element_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(host_random, element_types, test::type_names);

/// The documented formula, from the words.
TYPED_TEST(host_random, uniform_numbers_are_made_of_bits) {
    if constexpr (sizeof(TypeParam) != 8) {
        constexpr std::int64_t size = 4099;
        constexpr float low = -3, high = 5;
        std::vector<TypeParam> y(size);
        host::random_uniform<TypeParam>(vector_view<TypeParam>{y.data(), size}, low, high,
                                        {.seed = 4, .offset = 1});
        const auto bits = bits_of(size, {.seed = 4, .offset = 1});
        for (std::size_t i = 0; i < y.size(); ++i) {
            const float exact = std::fma(static_cast<float>(bits[i] >> 8) * 0x1p-24f, high - low, low);
            const double number = to_double(y[i]);
            ASSERT_TRUE(number >= -3 && number < 5) << i;
            if (const double rounded = to_double(static_cast<TypeParam>(exact)); rounded < 5) {
                ASSERT_EQ(number, rounded);
            }
        }
    }
}

TYPED_TEST(host_random, uniform_numbers_stay_in_narrow_ranges) {
    // Ends that no type has, and ranges of few numbers.
    const std::array<std::array<float, 2>, 5> ranges{
        {{0.1f, 0.3f}, {-0.3f, -0.1f}, {-1e-3f, 1e-3f}, {1, 1.02f}, {-1.02f, -1}}};
    for (const auto& [low, high] : ranges) {
        std::vector<TypeParam> y(10000);
        host::random_uniform<TypeParam>(vector_view<TypeParam>{y.data(), 10000}, low, high, {.seed = 6});
        for (const TypeParam each : y)
            ASSERT_TRUE(to_double(each) >= double{low} && to_double(each) < double{high}) << to_double(each);
    }
}

TYPED_TEST(host_random, order_is_along_rows_whatever_the_layout) {
    constexpr std::int64_t rows = 13, cols = 37;
    const philox generator{.seed = 8, .offset = 3};
    constexpr auto on_host = guarded<TypeParam>::memory::host;
    std::vector<TypeParam> expected(rows * cols);
    host::random_uniform<TypeParam>(vector_view<TypeParam>{expected.data(), rows * cols}, 0, 1, generator);
    for (const row_layout& layout : {row_layout{},
                                     {.padding = 2},
                                     {.step = 2},
                                     {.column_major = true},
                                     {.padding = 1, .step = 3, .column_major = true}}) {
        guarded<TypeParam> y = test::make_rows<TypeParam>(rows, cols, layout, on_host);
        host::random_uniform<TypeParam>(y.matrix(), 0, 1, generator);
        EXPECT_TRUE(test::are_same(y.download(), expected));
        EXPECT_TRUE(y.canaries_alive());
    }
}

TYPED_TEST(host_random, dropout_scales_what_bernoulli_does_not_take) {
    constexpr std::int64_t size = 20011;
    std::vector<TypeParam> x(size, static_cast<TypeParam>(3.0f)), y(size), dx(size), mask(size);
    const vector_view<const TypeParam> in{x.data(), size};
    const philox generator{.seed = 9, .offset = 1};
    for (const double p : {0.0, 0.25, 1.0}) {
        host::dropout<TypeParam>(in, vector_view<TypeParam>{y.data(), size}, p, generator);
        host::dropout_gradient<TypeParam>(in, vector_view<TypeParam>{dx.data(), size}, p, generator);
        host::random_bernoulli<TypeParam>(vector_view<TypeParam>{mask.data(), size}, p, generator);
        EXPECT_TRUE(test::are_same(y, dx));
        for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_NEAR(to_double(y[i]), to_double(mask[i]) == 1 ? 0 : 3 / (1 - p), 4 * 0x1p-7);
    }
}

TEST(host_random_permutation, has_each_number_once) {
    for (const std::int64_t size : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 33, 1000, 60000, (1 << 20) + 7}) {
        guarded<std::int32_t> y(1, size, 0, 1, 2, guarded<std::int32_t>::memory::host);
        host::random_permutation(y.vector(), {.seed = 12, .offset = static_cast<std::uint64_t>(size)});
        auto numbers = y.download();
        EXPECT_TRUE(y.canaries_alive());
        std::ranges::sort(numbers);
        std::vector<std::int32_t> all(numbers.size());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(numbers, all);
    }
}

}  // namespace
}  // namespace heddle
