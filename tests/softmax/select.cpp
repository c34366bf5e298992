#include "tests/support/provoked.hpp"
#include <heddle/device.hpp>
#include <heddle/softmax.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace heddle {
namespace {

TEST(softmax_select, vectorises_rows_that_lie_side_by_side) {
    const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};
    EXPECT_EQ(select(softmax_problem{.rows = 1, .cols = 9}, device), softmax_algorithm::vectorized);
    EXPECT_EQ(select(softmax_problem{.rows = 100, .cols = 9, .unit_stride = false}, device),
              softmax_algorithm::strips);
    EXPECT_EQ(select(softmax_problem{.rows = 1 << 20, .cols = 9, .unit_stride = false, .x_in_columns = true},
                     device),
              softmax_algorithm::strips);
}

TEST(softmax_why_not, says_what_a_rung_needs) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132, .max_threads_per_sm = 2048};
    const softmax_problem apart{.rows = 100, .cols = 9, .unit_stride = false};
    EXPECT_EQ(why_not(softmax_algorithm::vectorized, apart, device),
              "softmax: vectorized needs each row's elements side by side; given: rows 100, cols 9, "
              "unit_stride false, element_bytes 4, compute capability 9.0");
    EXPECT_EQ(why_not(softmax_algorithm::online, apart, device), "");
    EXPECT_EQ(why_not(softmax_algorithm::automatic, apart, device), "");
    EXPECT_EQ(
        test::invalid_argument_of([&] { (void)why_not(static_cast<softmax_algorithm>(99), apart, device); }),
        "why_not: algorithm is 99, expected an enumerator of softmax_algorithm");
}

TEST(softmax_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const softmax_algorithm algorithm : softmax_algorithms()) {
        EXPECT_NE(algorithm, softmax_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(softmax_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<softmax_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
