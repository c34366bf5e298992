#include "tests/support/provoked.hpp"
#include <heddle/device.hpp>
#include <heddle/scan.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

using test::invalid_argument_of;

std::vector<scan_algorithm> every_algorithm() {
    std::vector<scan_algorithm> all(scan_algorithms().begin(), scan_algorithms().end());
    all.push_back(scan_algorithm::automatic);
    return all;
}

const device_traits h200_like{.sm_count = 132};

TEST(scan_select, is_one_launch) {
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1} << 32})
        EXPECT_EQ(select(scan_problem{.size = size}, h200_like), scan_algorithm::look_back);
}

TEST(scan_why_not, is_empty_of_every_rung) {
    const scan_problem apart{.size = 1000, .unit_stride = false, .x_is_alike = false};
    for (const scan_algorithm algorithm : every_algorithm())
        EXPECT_EQ(why_not(algorithm, apart, h200_like), "") << to_string(algorithm);
    EXPECT_EQ(invalid_argument_of([&] { (void)why_not(static_cast<scan_algorithm>(99), apart, h200_like); }),
              "why_not: algorithm is 99, expected an enumerator of scan_algorithm");
}

TEST(scan_workspace, is_needed_by_several_blocks_only) {
    for (const scan_algorithm algorithm : every_algorithm())
        for (const std::size_t element_bytes : {4, 8})
            for (const std::int64_t size : {0, 1, 2040})
                EXPECT_EQ(scan_workspace_bytes({size, element_bytes}, h200_like, algorithm), 0);
    EXPECT_EQ(scan_workspace_bytes({std::int64_t{1} << 40}, h200_like, scan_algorithm::naive), 0);
    // Two tiles of 2048 elements, a group, a supergroup.
    EXPECT_EQ(scan_workspace_bytes({2049}, h200_like, scan_algorithm::look_back), 4096 + 4 * 8);
    EXPECT_EQ(scan_workspace_bytes({2049, 8}, h200_like, scan_algorithm::look_back), 4096 + 4 * 16);
    EXPECT_EQ(scan_workspace_bytes({2049}, h200_like, scan_algorithm::reduce_then_scan), 4096 + 16);
    EXPECT_EQ(invalid_argument_of([] { (void)scan_workspace_bytes({-1}, h200_like); }),
              "scan_workspace_bytes: problem.size is -1, expected zero or more");
    EXPECT_EQ(invalid_argument_of([] {
                  (void)scan_depth({1, 2}, h200_like);
              }),
              "scan_depth: problem.element_bytes is 2, expected 4 or 8");
}

/// A workspace and a bound of the error hold for all vectors of a size.
TEST(scan_workspace, and_depth_are_the_same_at_any_strides_and_alignment) {
    for (const scan_algorithm algorithm : every_algorithm())
        for (const std::int64_t size : {1, 2047, 2049, 8191, 8193, 300007}) {
            const scan_problem dense{.size = size};
            for (int misalignment = 0; misalignment < 4; ++misalignment)
                for (const bool unit_stride : {false, true})
                    for (const bool x_is_alike : {false, true}) {
                        const scan_problem other{.size = size,
                                                 .unit_stride = unit_stride,
                                                 .misalignment = misalignment,
                                                 .x_is_alike = x_is_alike};
                        EXPECT_EQ(scan_workspace_bytes(other, h200_like, algorithm),
                                  scan_workspace_bytes(dense, h200_like, algorithm));
                        EXPECT_EQ(scan_depth(other, h200_like, algorithm),
                                  scan_depth(dense, h200_like, algorithm));
                    }
        }
    EXPECT_EQ(invalid_argument_of(
                  [] { (void)scan_depth({.size = 1, .element_bytes = 8, .misalignment = 2}, h200_like); }),
              "scan_depth: problem.misalignment is 2, expected 0 to 1");
}

/// One block of reduce_then_scan takes any size.
TEST(scan_select, needs_no_scratch_memory) {
    for (int exponent = 0; exponent <= 40; ++exponent) {
        const scan_problem with{.size = std::int64_t{1} << exponent};
        scan_problem without = with;
        without.has_scratch = false;
        EXPECT_EQ(why_not(select(without, h200_like), without, h200_like), "");
        EXPECT_EQ(test::lack_in(why_not(scan_algorithm::look_back, without, h200_like)),
                  scan_workspace_bytes(with, h200_like) == 0 ? "" : "scan: look_back needs scratch memory");
        EXPECT_EQ(scan_workspace_bytes(without, h200_like), scan_workspace_bytes(with, h200_like));
        EXPECT_GE(scan_depth(without, h200_like), exponent);
    }
}

TEST(scan_why_not, says_what_a_rung_needs_and_what_was_given) {
    EXPECT_EQ(why_not(scan_algorithm::look_back,
                      {.size = 1 << 20,
                       .element_bytes = 8,
                       .unit_stride = false,
                       .misalignment = 1,
                       .x_is_alike = false,
                       .has_scratch = false},
                      h200_like),
              "scan: look_back needs scratch memory; given: size 1048576, element_bytes 8, unit_stride "
              "false, misalignment 1, x_is_alike false, has_scratch false, compute capability 0.0");
}

/// No order of additions of n elements is flatter than log2(n).
TEST(scan_depth, lies_between_a_perfect_tree_and_a_chain) {
    for (const scan_algorithm algorithm : every_algorithm())
        for (const std::size_t element_bytes : {4, 8})
            for (int exponent = 0; exponent <= 40; ++exponent) {
                const std::int64_t size = std::int64_t{1} << exponent;
                const std::int64_t depth = scan_depth({size, element_bytes}, h200_like, algorithm);
                ASSERT_GE(depth, exponent) << to_string(algorithm) << ' ' << size;
                if (exponent >= 10) {
                    ASSERT_LT(depth, size / 8) << to_string(algorithm) << ' ' << size;
                }
            }
}

TEST(scan_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const scan_algorithm algorithm : scan_algorithms()) {
        EXPECT_NE(algorithm, scan_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(scan_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<scan_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
