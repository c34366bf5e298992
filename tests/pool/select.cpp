#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};

pool_problem problem_of(std::int64_t count, std::int64_t height, std::int64_t width, std::int64_t channels,
                        const pool_geometry& geometry = {}) {
    return pool_problem_of<half>({nullptr, count, height, width, channels},
                                 tensor_view<half>{nullptr, count, pool_output_height(height, geometry),
                                                   pool_output_width(width, geometry), channels},
                                 {.geometry = geometry});
}

TEST(pool_select, takes_vectorized) {
    for (const pool_problem& p :
         {problem_of(1, 1, 1, 1), problem_of(2, 9, 11, 8, {{3, 3}, {2, 2}, {1, 1, 1, 1}}),
          problem_of(1, 0, 0, 4, {{2, 1}, {1, 1}, {1, 2, 1, 0}}), problem_of(1, 10, 9, 7, {{4, 5}, {3, 1}}),
          problem_of(1, 129, 257, 64, {{129, 257}})}) {
        EXPECT_EQ(select(p, device), pool_algorithm::vectorized);
        for (const pool_algorithm algorithm : pool_algorithms()) EXPECT_EQ(why_not(algorithm, p, device), "");
    }
    EXPECT_EQ(select(problem_of(0, 3, 3, 8), device), pool_algorithm::naive);
}

TEST(pool_select, asks_for_a_problem_of_one_mind) {
    pool_problem problem = problem_of(1, 8, 8, 16, {{3, 3}});
    problem.output.height = 7;
    expect_error("select: output.height is 7, expected 6 (pool_output_height())",
                 [&] { (void)select(problem, device); });
}

}  // namespace
}  // namespace heddle::test
