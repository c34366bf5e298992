#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

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
using element_types = testing::Types<float, half, bfloat16>;
TYPED_TEST_SUITE(host_random, element_types, type_names);

/// Applies the documented formula to the words.
TYPED_TEST(host_random, uniform_numbers_are_made_of_bits) {
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

}  // namespace
}  // namespace heddle::test
