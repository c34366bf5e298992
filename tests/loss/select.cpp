#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits device{.compute_capability_major = 9, .sm_count = 132, .max_threads_per_sm = 2048};

TEST(loss_select, vectorises_rows_that_lie_side_by_side) {
    const matrix_layout dense{100, 9}, apart{100, 9, 18, 2};
    EXPECT_EQ(select(loss_problem{dense}, device), loss_algorithm::vectorized);
    EXPECT_EQ(select(loss_problem{dense, {}, apart}, device), loss_algorithm::warp_per_row);
    EXPECT_EQ(select(loss_problem{dense, apart, dense}, device), loss_algorithm::warp_per_row);
}

TEST(loss_why_not, says_what_a_rung_needs) {
    const auto apart = loss_problem_of<float>({nullptr, 100, 12, 24, 2}, {});
    EXPECT_EQ(why_not(loss_algorithm::vectorized, apart, device),
              "loss: vectorized needs each row's elements side by side; given: rows 100, cols 12, "
              "unit_stride false, element_bytes 4, compute capability 9.0");
    EXPECT_EQ(why_not(loss_algorithm::naive, apart, device), "");
    EXPECT_EQ(why_not(loss_algorithm::warp_per_row, apart, device), "");
    EXPECT_EQ(why_not(loss_algorithm::automatic, apart, device), "");
    expect_error("select: problem.element_bytes is 8, expected 2 or 4", [&] {
        (void)select(loss_problem{{1, 1, 1, 1, 8}}, device);
    });
    expect_error("loss_problem_of: target.cols is 5, expected 4 (prediction.cols)", [&] {
        (void)loss_problem_of<float>({nullptr, 3, 4}, {nullptr, 3, 5}, {});
    });
}

}  // namespace
}  // namespace heddle::test
