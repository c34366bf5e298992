#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits h200_like{.compute_capability_major = 9, .sm_count = 132};

TEST(matrix_reduce_select, takes_any_strides) {
    using enum matrix_reduce_algorithm;
    EXPECT_EQ(select(matrix_reduce_problem{{10, 20}}, h200_like), vectorized);
    EXPECT_EQ(select(matrix_reduce_problem{{10, 20, 1, 10}}, h200_like), vectorized);
    EXPECT_EQ(select(matrix_reduce_problem{{10, 20, 60, 3}}, h200_like), vectorized);
    EXPECT_EQ(select(matrix_reduce_problem{{10, 20, 3, 30}}, h200_like), vectorized);
    EXPECT_EQ(select(matrix_reduce_problem{{1, 20, 60, 3}}, h200_like), vectorized);
}

TEST(matrix_reduce_why_not, has_nothing_against_any_strides) {
    using enum matrix_reduce_algorithm;
    const matrix_reduce_problem dense{{10, 20}}, across{{10, 20, 1, 10}}, apart{{10, 20, 60, 3}},
        row{{1, 20, 60, 3}};
    for (const matrix_reduce_problem& problem : {dense, across, row, apart})
        for (const auto algorithm : {automatic, naive, coalesced, vectorized})
            EXPECT_EQ(why_not(algorithm, problem, h200_like), "");
}

/// Then blocks share the few rows.
TEST(matrix_reduce_workspace, is_needed_by_few_long_rows_of_any_strides) {
    for (const matrix_reduce_problem& problem :
         {matrix_reduce_problem{{3, 1 << 20, 3 << 20, 2}}, {{3, 1 << 20, 2, 7}}}) {
        EXPECT_GT(matrix_reduce_workspace_bytes(problem, h200_like), 4096);
        EXPECT_LT(matrix_reduce_depth(problem, h200_like), 256);
    }
    EXPECT_EQ(matrix_reduce_workspace_bytes({{1 << 20, 100, 300, 3}}, h200_like), 0);
}

TEST(matrix_reduce_workspace, is_needed_by_rows_that_blocks_share_only) {
    const auto bytes = [](std::int64_t rows, std::int64_t cols) {
        return matrix_reduce_workspace_bytes({{rows, cols}}, h200_like);
    };
    EXPECT_EQ(bytes(0, 0), 0);
    EXPECT_EQ(bytes(4096, 4096), 0);
    EXPECT_EQ(bytes(1 << 20, 8), 0);
    EXPECT_EQ(bytes(64, 1 << 20), 4096 + 64 * 16 * 16);  // 16 blocks a row, 16 bytes each
    const matrix_view<const float> tall{nullptr, 65536, 1024};
    EXPECT_GT(matrix_reduce_workspace_bytes(column_problem(tall), h200_like), 4096);
    for (const auto algorithm : {matrix_reduce_algorithm::naive, matrix_reduce_algorithm::coalesced})
        EXPECT_EQ(matrix_reduce_workspace_bytes({{1, 1 << 20}}, h200_like, algorithm), 0);
}

TEST(matrix_reduce_workspace, is_bounded) {
    for (int down = 0; down <= 40; ++down)
        for (int across = 0; across <= 40 && down + across <= 58; ++across) {
            const matrix_view<const float> x{nullptr, std::int64_t{1} << down, std::int64_t{1} << across};
            EXPECT_LT(matrix_reduce_workspace_bytes(row_problem(x), h200_like), 64 << 10);
            EXPECT_LT(matrix_reduce_workspace_bytes(column_problem(x), h200_like), 8 << 20);
        }
}

/// A workspace and a bound of the error hold for a matrix wherever it begins.
TEST(matrix_reduce_workspace, and_depth_are_the_same_at_any_alignment) {
    for (const matrix_reduce_algorithm algorithm : with_automatic(matrix_reduce_algorithms()))
        for (const std::int64_t rows : {1, 70, 3000, 70000})
            for (const std::int64_t cols : {1, 8, 100, 1000, 100000}) {
                const matrix_view<const half> x{nullptr, rows, cols};
                for (const matrix_reduce_problem& aligned : {row_problem(x), column_problem(x)}) {
                    matrix_reduce_problem other = aligned;
                    other.x.offset = 2;
                    EXPECT_EQ(matrix_reduce_workspace_bytes(other, h200_like, algorithm),
                              matrix_reduce_workspace_bytes(aligned, h200_like, algorithm));
                    EXPECT_EQ(matrix_reduce_depth(other, h200_like, algorithm),
                              matrix_reduce_depth(aligned, h200_like, algorithm));
                }
            }
}

/// Then no blocks share rows.
TEST(matrix_reduce_select, needs_no_scratch_memory) {
    for (const auto algorithm : with_automatic(matrix_reduce_algorithms()))
        for (int exponent = 0; exponent <= 40; ++exponent)
            for (const bool is_across : {false, true}) {
                const std::int64_t n = std::int64_t{1} << exponent;
                matrix_reduce_problem problem{{3, n, is_across ? 1 : n, is_across ? 3 : 1}};
                const std::int64_t bytes = matrix_reduce_workspace_bytes(problem, h200_like, algorithm);
                problem.has_scratch = false;
                EXPECT_EQ(why_not(algorithm, problem, h200_like), "");
                EXPECT_EQ(matrix_reduce_workspace_bytes(problem, h200_like, algorithm), bytes);
                EXPECT_GE(matrix_reduce_depth(problem, h200_like, algorithm), exponent);
            }
}

/// No tree of additions of n elements is flatter than log2(n).
TEST(matrix_reduce_depth, is_no_less_than_a_perfect_tree_has) {
    for (const matrix_reduce_algorithm algorithm : with_automatic(matrix_reduce_algorithms()))
        for (const std::int64_t element_bytes : {2, 4})
            for (int rows = 0; rows <= 20; rows += 5)
                for (int cols = 0; cols <= 30; ++cols) {
                    const std::int64_t m = std::int64_t{1} << rows, n = std::int64_t{1} << cols;
                    const matrix_reduce_problem dense{{m, n, n, 1, element_bytes}},
                        across{{m, n, 1, m, element_bytes}};
                    ASSERT_GE(matrix_reduce_depth(dense, h200_like, algorithm), cols);
                    ASSERT_GE(matrix_reduce_depth(across, h200_like, algorithm), cols);
                    if (algorithm == matrix_reduce_algorithm::vectorized && cols >= 14) {
                        ASSERT_LT(matrix_reduce_depth(dense, h200_like, algorithm), n / 32 + 64);
                        ASSERT_LT(matrix_reduce_depth(across, h200_like, algorithm), n / 32 + 64);
                    }
                }
}

TEST(matrix_reduce_problem, is_checked) {
    expect_error("matrix_reduce_workspace_bytes: problem.rows is -1, expected zero or more",
                 [&] { (void)matrix_reduce_workspace_bytes({{-1}}, h200_like); });
    expect_error("matrix_reduce_depth: problem.element_bytes is 8, expected 2 or 4", [&] {
        (void)matrix_reduce_depth({{1, 1, 1, 1, 8}}, h200_like);
    });
}

}  // namespace
}  // namespace heddle::test
