#include "tests/support/provoked.hpp"
#include <heddle/device.hpp>
#include <heddle/random.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace heddle {
namespace {

const device_traits h200_like{.compute_capability_major = 9, .sm_count = 132};

TEST(random_select, is_the_best_that_can_run) {
    EXPECT_EQ(select(random_problem{.rows = 3, .cols = 100}, h200_like), random_algorithm::vectorized);
    EXPECT_EQ(select(random_problem{.rows = 3, .cols = 100, .unit_stride = false}, h200_like),
              random_algorithm::counter_per_thread);
}

TEST(random_why_not, says_what_a_rung_needs) {
    const random_problem apart{.rows = 3, .cols = 100, .unit_stride = false};
    const auto text = [](random_algorithm algorithm, const random_problem& problem) {
        return why_not(algorithm, problem, h200_like);
    };
    EXPECT_EQ(text(random_algorithm::vectorized, apart),
              "random: vectorized needs each row's elements side by side; given: rows 3, cols 100, "
              "element_bytes 4, unit_stride false, compute capability 9.0");
    EXPECT_EQ(text(random_algorithm::counter_per_thread, apart), "");
    EXPECT_EQ(text(random_algorithm::naive, apart), "");
    EXPECT_EQ(text(random_algorithm::automatic, apart), "");
    EXPECT_EQ(test::invalid_argument_of([&] { (void)text(static_cast<random_algorithm>(99), apart); }),
              "why_not: algorithm is 99, expected an enumerator of random_algorithm");
    EXPECT_EQ(test::invalid_argument_of([&] { (void)text(random_algorithm::naive, {.element_bytes = 3}); }),
              "why_not: problem.element_bytes is 3, expected 1, 2, 4 or 8");
    EXPECT_EQ(test::invalid_argument_of([&] { (void)text(random_algorithm::naive, {.block_elements = 3}); }),
              "why_not: problem.block_elements is 3, expected 2 or 4");
}

TEST(random_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const random_algorithm algorithm : random_algorithms()) {
        EXPECT_NE(algorithm, random_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(random_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<random_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
