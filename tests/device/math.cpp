#include "kernels/device/math.hpp"

#include "tests/support/headers.hpp"

namespace heddle::kernels {
namespace {

TEST(math, divisions_round_up) {
    for (std::int64_t n = -6; n <= 100; ++n)
        for (int d = 7; d <= 30; ++d) {
            std::int64_t quotient = 0;
            while (quotient * d < n) ++quotient;
            EXPECT_EQ(divide_up(n, d), quotient) << n << " / " << d;
            EXPECT_EQ(round_up(n, d), quotient * d) << n << " / " << d;
        }
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    EXPECT_EQ(divide_up(huge - 1, huge), 1);
    EXPECT_EQ(divide_up(huge + 1, 2), huge / 2 + 1);
}

TEST(math, types_are_those_of_operators) {
    static_assert(std::is_same_v<decltype(divide_up(1, 2)), int>);
    static_assert(std::is_same_v<decltype(divide_up(1, 2U)), unsigned>);
    static_assert(std::is_same_v<decltype(round_up(std::int64_t{1}, 2U)), std::int64_t>);
}

TEST(math, powers_end_at_the_most) {
    for (std::int64_t most = 1; most <= 64; most *= 2)
        for (std::int64_t n = 0; n <= 100; ++n) {
            const std::int64_t power = power_at_least(n, most);
            EXPECT_LE(power, most);
            EXPECT_TRUE(power >= n || power == most);
            EXPECT_TRUE(power == 1 || power / 2 < n);
        }
    EXPECT_EQ(power_at_least((std::int64_t{1} << 40) + 1), std::int64_t{1} << 41);
}

TEST(math, alignments_are_common_up_to_a_packet) {
    EXPECT_EQ(common_alignment(0), 16);
    EXPECT_EQ(common_alignment(std::int64_t{48}, 8U), 8);
    EXPECT_EQ(common_alignment(std::int64_t{-4}), 4);
    EXPECT_EQ(common_alignment(16, 3), 1);
}

}  // namespace
}  // namespace heddle::kernels
