#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

/// A problem of row-major matrices, whose source has elements `step` apart.
transpose_problem problem_of(std::int64_t rows, std::int64_t cols, std::int64_t step = 1) {
    return {{rows, cols, cols * step, step}, {cols, rows}};
}

TEST(transpose_selection, takes_packets_where_there_are_any_and_no_tile_for_a_strip) {
    const device_traits h200{.sm_count = 132};
    using enum transpose_algorithm;
    EXPECT_EQ(select(problem_of(4096, 4096), h200), vectorized);
    EXPECT_EQ(select(problem_of(15, 1000), h200), vectorized);
    EXPECT_EQ(select(problem_of(4096, 4096, 2), h200), shared_memory);
    EXPECT_EQ(select(problem_of(1000, 16, 2), h200), shared_memory);
    EXPECT_EQ(select(problem_of(15, 1000, 2), h200), naive);
    EXPECT_EQ(select(transpose_problem{{1, 1000}, {1000, 1}}, h200), vectorized);
    // Copies of rows, also of a source with gaps down its columns.
    EXPECT_EQ(select(transpose_problem{{9, 1000}, {1000, 9, 1, 1000}}, h200), vectorized);
    EXPECT_EQ(select(transpose_problem{{9, 1000, 1, 20}, {1000, 9, 20, 1}}, h200), vectorized);
}

TEST(transpose_algorithms, are_three) {
    EXPECT_EQ(transpose_algorithms().size(), 3u);
    EXPECT_EQ(to_string(transpose_algorithm::shared_memory), "shared_memory");
}

TEST(transpose_why_not, says_what_a_rung_needs) {
    const device_traits h200{.compute_capability_major = 9, .sm_count = 132};
    const transpose_problem apart = problem_of(100, 12, 2);
    EXPECT_EQ(
        why_not(transpose_algorithm::vectorized, apart, h200),
        "transpose: vectorized needs the elements of source and of destination side by side along one "
        "dimension; given: rows 100, cols 12, element_bytes 4, unit_stride false, compute capability 9.0");
    EXPECT_EQ(why_not(transpose_algorithm::shared_memory, apart, h200), "");
    EXPECT_EQ(why_not(transpose_algorithm::automatic, apart, h200), "");
    EXPECT_EQ(why_not(transpose_algorithm::vectorized, problem_of(100, 9), h200), "");
}

TEST(transpose_problem_of, says_how_matrices_lie) {
    alignas(256) static std::uint16_t values[64];
    EXPECT_EQ(transpose_problem_of<std::uint16_t>({nullptr, 3, 4, 5}, {values + 8, 4, 3}),
              (transpose_problem{{3, 4, 5, 1, 2}, {4, 3, 3, 1, 2, 16}}));
    expect_error("transpose_problem_of: destination.rows is 3, expected 4 (source.cols)", [&] {
        (void)transpose_problem_of<float>({nullptr, 3, 4}, {nullptr, 3, 4});
    });
}

}  // namespace
}  // namespace heddle::test
