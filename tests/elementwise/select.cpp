#include "tests/support/provoked.hpp"
#include <heddle/device.hpp>
#include <heddle/elementwise.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace heddle {
namespace {

TEST(elementwise_select, takes_packets_for_every_shape) {
    const device_traits device{.sm_count = 1};
    EXPECT_EQ(select(elementwise_problem{.rows = 1, .cols = 1000}, device),
              elementwise_algorithm::vectorized);
    EXPECT_EQ(select(elementwise_problem{.rows = 1000, .cols = 3}, device),
              elementwise_algorithm::vectorized);
}

TEST(elementwise_why_not, is_empty_as_every_rung_takes_every_problem) {
    const device_traits device{.sm_count = 1};
    const elementwise_problem apart{.rows = 9, .cols = 5, .inputs = 3, .in_packets = false};
    for (const elementwise_algorithm algorithm : elementwise_algorithms())
        EXPECT_EQ(why_not(algorithm, apart, device), "");
    EXPECT_EQ(why_not(elementwise_algorithm::automatic, apart, device), "");
    const auto text = [&](elementwise_algorithm algorithm, const elementwise_problem& problem) {
        return test::invalid_argument_of([&] { (void)why_not(algorithm, problem, device); });
    };
    EXPECT_EQ(text(static_cast<elementwise_algorithm>(99), apart),
              "why_not: algorithm is 99, expected an enumerator of elementwise_algorithm");
    EXPECT_EQ(text(elementwise_algorithm::naive, {.rows = 1, .cols = 1, .inputs = 4}),
              "why_not: problem.inputs is 4, expected 1 to 3");
    EXPECT_EQ(text(elementwise_algorithm::naive, {.rows = 1, .cols = 1, .element_bytes = 16}),
              "why_not: problem.element_bytes is 16, expected 2, 4 or 8");
    EXPECT_EQ(text(elementwise_algorithm::naive, {.rows = 1, .cols = 1, .inputs = 2, .broadcasts = 3}),
              "why_not: problem.broadcasts is 3, expected 0 to 2 (problem.inputs)");
}

TEST(elementwise_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const elementwise_algorithm algorithm : elementwise_algorithms()) {
        EXPECT_NE(algorithm, elementwise_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(elementwise_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<elementwise_algorithm>(99)), "unknown");
}

TEST(elementwise_operations, have_names_and_inputs) {
    for (const elementwise_operation operation : elementwise_operations()) {
        EXPECT_FALSE(to_string(operation).empty());
        EXPECT_GE(input_count(operation), 1);
        EXPECT_LE(input_count(operation), 3);
    }
}

}  // namespace
}  // namespace heddle
