#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(softmax_select, vectorises_rows_that_lie_side_by_side) {
    const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};
    const matrix_layout apart{100, 9, 18, 2}, rows{1 << 20, 9}, columns{1 << 20, 9, 1, 1 << 20};
    EXPECT_EQ(select(softmax_problem{{1, 9}, {1, 9}}, device), softmax_algorithm::vectorized);
    EXPECT_EQ(select(softmax_problem{apart, apart}, device), softmax_algorithm::strips);
    EXPECT_EQ(select(softmax_problem{columns, rows}, device), softmax_algorithm::strips);
}

TEST(softmax_why_not, says_what_a_rung_needs) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132, .max_threads_per_sm = 2048};
    const auto apart = softmax_problem_of<float>({nullptr, 100, 9, 18, 2}, {nullptr, 100, 9});
    EXPECT_EQ(why_not(softmax_algorithm::vectorized, apart, device),
              "softmax: vectorized needs each row's elements side by side; given: rows 100, cols 9, "
              "unit_stride false, element_bytes 4, in_packets false, compute capability 9.0");
    EXPECT_EQ(why_not(softmax_algorithm::online, apart, device), "");
    EXPECT_EQ(why_not(softmax_algorithm::automatic, apart, device), "");
}

TEST(softmax_problem_of, says_how_operands_lie) {
    alignas(256) static half values[64];
    const matrix_view<half> y{values + 8, 3, 5, 8};
    EXPECT_EQ(softmax_problem_of<half>({nullptr, 3, 5, 1, 4}, y),
              (softmax_problem{{3, 5, 1, 4, 2}, {3, 5, 8, 1, 2, 16}}));
    expect_error("softmax_problem_of: x.rows is 4, expected 3 (y.rows)", [&] {
        (void)softmax_problem_of<half>({nullptr, 4, 5}, y);
    });
}

}  // namespace
}  // namespace heddle::test
