#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(norm_select, vectorises_rows_that_lie_side_by_side) {
    const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};
    const matrix_layout apart{100, 9, 18, 2}, rows{1 << 20, 9}, columns{1 << 20, 9, 1, 1 << 20};
    EXPECT_EQ(select(norm_problem{{1, 9}, {1, 9}}, device), norm_algorithm::vectorized);
    EXPECT_EQ(select(norm_problem{apart, apart}, device), norm_algorithm::strips);
    EXPECT_EQ(select(norm_problem{columns, rows}, device), norm_algorithm::strips);
}

TEST(norm_why_not, says_what_a_rung_needs) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132, .max_threads_per_sm = 2048};
    const norm_problem apart{{100, 12}, {100, 12}, {12, 2}};
    EXPECT_EQ(why_not(norm_algorithm::vectorized, apart, device),
              "norm: vectorized needs the elements of each row, of gamma and of beta side by side; given: "
              "rows 100, cols 12, unit_stride false, element_bytes 4, compute capability 9.0");
    EXPECT_EQ(why_not(norm_algorithm::vectorized,
                      norm_problem_of<half>({nullptr, 5, 9, 1, 5}, {}, {}, {nullptr, 5, 9, 1, 5}), device),
              "norm: vectorized needs the elements of each row, of gamma and of beta side by side; given: "
              "rows 5, cols 9, unit_stride false, element_bytes 2, in_packets false, x_in_columns true, "
              "y_in_columns true, compute capability 9.0");
    EXPECT_EQ(why_not(norm_algorithm::block_per_row, apart, device), "");
    EXPECT_EQ(why_not(norm_algorithm::automatic, apart, device), "");
    EXPECT_EQ(why_not(norm_algorithm::vectorized, {{100, 9}, {100, 9}}, device), "");
    expect_error("why_not: problem.element_bytes is 8, expected 2 or 4", [&] {
        (void)why_not(norm_algorithm::naive, {{1, 1, 1, 1, 8}, {1, 1, 1, 1, 8}}, device);
    });
    expect_error("norm_problem_of: gamma.size is 3, expected 0 or 4 (y.cols)", [&] {
        (void)norm_problem_of<float>({nullptr, 3, 4}, {nullptr, 3}, {}, {nullptr, 3, 4});
    });
}

}  // namespace
}  // namespace heddle::test
