#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(elementwise_select, takes_packets_for_every_shape) {
    const device_traits device{.sm_count = 1};
    for (const matrix_layout& lies : {matrix_layout{1, 1000}, {1000, 3}})
        EXPECT_EQ(select(elementwise_problem{1, {{lies, lies}}}, device), elementwise_algorithm::vectorized);
}

TEST(elementwise_problem_of, says_how_operands_lie) {
    alignas(256) static half values[64];
    const vector_view<half> z{values, 9};
    const vector_view<const half> x{values + 3, 9}, y{values, 9, 0};
    EXPECT_EQ(elementwise_problem_of(x, y, z),
              (elementwise_problem{2, {{{9, 1, 1, 1, 2, 6}, {9, 1, 0, 1, 2}, {9, 1, 1, 1, 2}}}}));
    expect_error("elementwise_problem_of: x.size is 9, expected 8 (y.size)", [&] {
        (void)elementwise_problem_of(x, vector_view<half>{nullptr, 8});
    });
}

TEST(elementwise_why_not, is_empty_as_every_rung_takes_every_problem) {
    const device_traits device{.sm_count = 1};
    const matrix_layout apart_rows{9, 5, 20, 2};
    const elementwise_problem apart{3, {{apart_rows, apart_rows, apart_rows, apart_rows}}};
    for (const elementwise_algorithm algorithm : elementwise_algorithms())
        EXPECT_EQ(why_not(algorithm, apart, device), "");
    EXPECT_EQ(why_not(elementwise_algorithm::automatic, apart, device), "");
    const auto text = [&](elementwise_algorithm algorithm, const elementwise_problem& problem) {
        return invalid_argument_of([&] { (void)why_not(algorithm, problem, device); });
    };
    EXPECT_EQ(text(elementwise_algorithm::naive, {4, {}}), "why_not: problem.inputs is 4, expected 1 to 3");
    EXPECT_EQ(text(elementwise_algorithm::naive, {1, {{{1, 1, 1, 1, 16}, {1, 1, 1, 1, 16}}}}),
              "why_not: problem.element_bytes is 16, expected 2, 4 or 8");
    EXPECT_EQ(text(elementwise_algorithm::naive, {2, {{{3, 4}, {3, 5}, {3, 4}}}}),
              "why_not: problem is one of operands that disagree, expected one that a _problem_of() makes");
    EXPECT_EQ(text(elementwise_algorithm::naive, {1, {{{1, 1, 1, 1, 4, -4}, {1, 1}}}}),
              "why_not: problem.offset is -4, expected 0 to 255");
}

TEST(elementwise_operations, have_names_and_inputs) {
    for (const elementwise_operation operation : elementwise_operations()) {
        EXPECT_FALSE(to_string(operation).empty());
        EXPECT_GE(input_count(operation), 1);
        EXPECT_LE(input_count(operation), 3);
    }
}

}  // namespace
}  // namespace heddle::test
