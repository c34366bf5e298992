#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};

TEST(optimizer_select, vectorises_all_lists) {
    for (const optimizer_problem& problem : {optimizer_problem{}, {1, 1}, {148, 124439808}})
        EXPECT_EQ(select(problem, device), optimizer_algorithm::vectorized);
}

TEST(optimizer_why_not, has_nothing_against_any_list) {
    for (const optimizer_algorithm algorithm : optimizer_algorithms())
        EXPECT_EQ(why_not(algorithm, {10000, std::int64_t{1} << 40}, device), "");
    EXPECT_EQ(why_not(optimizer_algorithm::automatic, {1, 1}, device), "");
    expect_error("select: problem.elements is -1, expected zero or more",
                 [] { (void)select(optimizer_problem{.elements = -1}, device); });
}

TEST(gradient_norm_workspace, is_for_what_more_than_one_block_does) {
    EXPECT_EQ(gradient_norm_workspace_bytes({}, device), 0);
    EXPECT_EQ(gradient_norm_workspace_bytes({2, 1000}, device), 0);
    const std::int64_t of_one = gradient_norm_workspace_bytes({512, 1 << 20}, device);
    const std::int64_t of_two = gradient_norm_workspace_bytes({513, 1 << 20}, device);
    EXPECT_GT(of_one, 4096);
    EXPECT_EQ(of_two - 4096, 2 * (of_one - 4096));
}

}  // namespace
}  // namespace heddle::test
