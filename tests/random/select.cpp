#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits h200_like{.compute_capability_major = 9, .sm_count = 132};

TEST(random_select, is_the_best_that_can_run) {
    EXPECT_EQ(select(random_problem{{3, 100}}, h200_like), random_algorithm::vectorized);
    EXPECT_EQ(select(random_problem{{3, 100, 300, 2}}, h200_like), random_algorithm::counter_per_thread);
}

TEST(random_why_not, says_what_a_rung_needs) {
    const random_problem apart{{3, 100, 300, 2}};
    const auto text = [](random_algorithm algorithm, const random_problem& problem) {
        return why_not(algorithm, problem, h200_like);
    };
    EXPECT_EQ(text(random_algorithm::vectorized, apart),
              "random: vectorized needs each row's elements side by side; given: rows 3, cols 100, "
              "element_bytes 4, unit_stride false, compute capability 9.0");
    EXPECT_EQ(text(random_algorithm::counter_per_thread, apart), "");
    EXPECT_EQ(text(random_algorithm::naive, apart), "");
    EXPECT_EQ(text(random_algorithm::automatic, apart), "");
    expect_error("why_not: problem.element_bytes is 3, expected 1, 2, 4 or 8", [&] {
        (void)text(random_algorithm::naive, {{1, 1, 1, 1, 3}});
    });
    EXPECT_EQ(
        text(random_algorithm::vectorized, random_problem_of(matrix_view<double>{nullptr, 9, 5, 1, 20})),
        "random: vectorized needs each row's elements side by side; given: rows 9, cols 5, element_bytes 8, "
        "block_elements 2, unit_stride false, is_crossed true, compute capability 9.0");
}

TEST(random_problem, is_checked) {
    constexpr std::int64_t far = std::int64_t{1} << 62;
    expect_error(
        "select: problem.row_stride is 4611686018427387904, expected a stride whose bytes fit 63 bits", [&] {
            (void)select(random_problem{{3, 4, far}}, h200_like);
        });
}

TEST(random_problem_of, says_how_operands_lie) {
    alignas(256) static float values[64];
    const matrix_view<float> y{values + 4, 3, 5, 8};
    EXPECT_EQ(random_problem_of(y, false), (random_problem{{3, 5, 8, 1, 4, 16}, {}, false}));
    EXPECT_EQ(random_problem_of(vector_view<float>{values, 9, 2}), (random_problem{{9, 1, 2}}));
    EXPECT_EQ(random_problem_of(matrix_view<const float>{values, 3, 5}, y),
              (random_problem{{3, 5, 8, 1, 4, 16}, {3, 5}, false}));
    expect_error("random_problem_of: x.cols is 4, expected 5 (y.cols)", [&] {
        (void)random_problem_of(matrix_view<float>{nullptr, 3, 4}, y);
    });
}

}  // namespace
}  // namespace heddle::test
