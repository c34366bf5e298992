#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits h200_like{.sm_count = 132};

/// A problem whose vectors have one layout.
scan_problem problem_of(const vector_layout& v, bool has_scratch = true) {
    return {v, v, has_scratch};
}
scan_problem problem_of(std::int64_t size, std::int64_t element_bytes = 4) {
    return problem_of({size, 1, element_bytes});
}

TEST(scan_select, is_one_launch) {
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1} << 32})
        EXPECT_EQ(select(problem_of(size), h200_like), scan_algorithm::look_back);
}

TEST(scan_why_not, is_empty_of_every_rung) {
    const scan_problem apart{{1000}, {1000, 3}};
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        EXPECT_EQ(why_not(algorithm, apart, h200_like), "") << to_string(algorithm);
}

TEST(scan_workspace, is_needed_by_several_blocks_only) {
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        for (const std::int64_t element_bytes : {4, 8})
            for (const std::int64_t size : {0, 1, 2040})
                EXPECT_EQ(scan_workspace_bytes(problem_of(size, element_bytes), h200_like, algorithm), 0);
    EXPECT_EQ(scan_workspace_bytes(problem_of(std::int64_t{1} << 40), h200_like, scan_algorithm::naive), 0);
    // Two tiles of 2048 elements, a group, a supergroup.
    EXPECT_EQ(scan_workspace_bytes(problem_of(2049), h200_like, scan_algorithm::look_back), 4096 + 4 * 8);
    EXPECT_EQ(scan_workspace_bytes(problem_of(2049, 8), h200_like, scan_algorithm::look_back), 4096 + 4 * 16);
    EXPECT_EQ(scan_workspace_bytes(problem_of(2049), h200_like, scan_algorithm::reduce_then_scan), 4096 + 16);
    expect_error("scan_workspace_bytes: problem.size is -1, expected zero or more",
                 [] { (void)scan_workspace_bytes(problem_of(-1), h200_like); });
    expect_error("scan_depth: problem.element_bytes is 2, expected 4 or 8",
                 [] { (void)scan_depth(problem_of(1, 2), h200_like); });
}

/// A workspace and a bound of the error hold for all vectors of a size.
TEST(scan_workspace, and_depth_are_the_same_at_any_strides_and_alignment) {
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        for (const std::int64_t size : {1, 2047, 2049, 8191, 8193, 300007}) {
            const scan_problem dense = problem_of(size);
            for (const std::int64_t offset : {0, 4, 8, 12})
                for (const std::int64_t stride : {1, 3})
                    for (const vector_layout& x : {vector_layout{size}, {size, stride, 4, offset}}) {
                        const scan_problem other{x, {size, stride, 4, offset}};
                        EXPECT_EQ(scan_workspace_bytes(other, h200_like, algorithm),
                                  scan_workspace_bytes(dense, h200_like, algorithm));
                        EXPECT_EQ(scan_depth(other, h200_like, algorithm),
                                  scan_depth(dense, h200_like, algorithm));
                    }
        }
    expect_error("scan_depth: problem.y.offset is -4, expected 0 to 255", [] {
        (void)scan_depth({{1}, {1, 1, 4, -4}}, h200_like);
    });
}

/// One block of reduce_then_scan takes any size.
TEST(scan_select, needs_no_scratch_memory) {
    for (int exponent = 0; exponent <= 40; ++exponent) {
        const scan_problem with = problem_of(std::int64_t{1} << exponent);
        scan_problem without = with;
        without.has_scratch = false;
        EXPECT_EQ(why_not(select(without, h200_like), without, h200_like), "");
        EXPECT_EQ(lack_in(why_not(scan_algorithm::look_back, without, h200_like)),
                  scan_workspace_bytes(with, h200_like) == 0 ? "" : "scan: look_back needs scratch memory");
        EXPECT_EQ(scan_workspace_bytes(without, h200_like), scan_workspace_bytes(with, h200_like));
        EXPECT_GE(scan_depth(without, h200_like), exponent);
    }
}

TEST(scan_why_not, says_what_a_rung_needs_and_what_was_given) {
    EXPECT_EQ(why_not(scan_algorithm::look_back, {{1 << 20, 1, 8}, {1 << 20, 3, 8, 8}, false}, h200_like),
              "scan: look_back needs scratch memory; given: size 1048576, element_bytes 8, unit_stride "
              "false, misalignment 1, x_is_alike false, has_scratch false, compute capability 0.0");
}

/// No order of additions of n elements is flatter than log2(n).
TEST(scan_depth, lies_between_a_perfect_tree_and_a_chain) {
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        for (const std::int64_t element_bytes : {4, 8})
            for (int exponent = 0; exponent <= 40; ++exponent) {
                const std::int64_t size = std::int64_t{1} << exponent;
                const std::int64_t depth = scan_depth(problem_of(size, element_bytes), h200_like, algorithm);
                ASSERT_GE(depth, exponent) << to_string(algorithm) << ' ' << size;
                if (exponent >= 10) {
                    ASSERT_LT(depth, size / 8) << to_string(algorithm) << ' ' << size;
                }
            }
}

}  // namespace
}  // namespace heddle::test
