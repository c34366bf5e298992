#include "tests/support/provoked.hpp"
#include <heddle/device.hpp>
#include <heddle/transpose.hpp>

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(transpose_algorithms, have_names) {
    for (const transpose_algorithm algorithm : transpose_algorithms())
        EXPECT_NE(to_string(algorithm), "unknown");
    EXPECT_EQ(to_string(transpose_algorithm::shared_memory), "shared_memory");
    EXPECT_EQ(transpose_algorithms().size(), 3u);
}

TEST(transpose_selection, takes_packets_where_there_are_any_and_no_tile_for_a_strip) {
    const device_traits h200{.sm_count = 132};
    using enum transpose_algorithm;
    EXPECT_EQ(select(transpose_problem{.rows = 4096, .cols = 4096}, h200), vectorized);
    EXPECT_EQ(select(transpose_problem{.rows = 15, .cols = 1000}, h200), vectorized);
    EXPECT_EQ(select(transpose_problem{.rows = 4096, .cols = 4096, .unit_stride = false}, h200),
              shared_memory);
    EXPECT_EQ(select(transpose_problem{.rows = 1000, .cols = 16, .unit_stride = false}, h200), shared_memory);
    EXPECT_EQ(select(transpose_problem{.rows = 15, .cols = 1000, .unit_stride = false}, h200), naive);
    EXPECT_EQ(select(transpose_problem{.rows = 1, .cols = 1000, .is_copy = true}, h200), vectorized);
}

TEST(transpose_why_not, says_what_a_rung_needs) {
    const device_traits h200{.compute_capability_major = 9, .sm_count = 132};
    const transpose_problem apart{.rows = 100, .cols = 9, .unit_stride = false};
    EXPECT_EQ(
        why_not(transpose_algorithm::vectorized, apart, h200),
        "transpose: vectorized needs the elements of source and of destination side by side along one "
        "dimension; given: rows 100, cols 9, element_bytes 4, unit_stride false, compute capability 9.0");
    EXPECT_EQ(why_not(transpose_algorithm::shared_memory, apart, h200), "");
    EXPECT_EQ(why_not(transpose_algorithm::automatic, apart, h200), "");
    EXPECT_EQ(why_not(transpose_algorithm::vectorized, {.rows = 100, .cols = 9}, h200), "");
    EXPECT_EQ(
        test::invalid_argument_of([&] { (void)why_not(static_cast<transpose_algorithm>(99), apart, h200); }),
        "why_not: algorithm is 99, expected an enumerator of transpose_algorithm");
    EXPECT_EQ(test::invalid_argument_of([&] {
                  (void)why_not(transpose_algorithm::naive, {.rows = 1, .cols = 1, .alignment = 32}, h200);
              }),
              "why_not: problem.alignment is 32, expected 1 to 16");
}

}  // namespace
}  // namespace heddle
