#include "tests/support/headers.hpp"
#include "tests/support/norm.hpp"

namespace heddle::test {
namespace {

using operation = norm_operation;
using reference = bounds::expected_norm_gradient;

/// The reference of all gradients is the derivative of the reference of the norms.
TEST(norm_gradient_reference, agrees_with_finite_differences) {
    constexpr std::int64_t rows = 3, cols = 7;
    constexpr float epsilon = 0.01f;
    constexpr double step = 1e-5;
    for (const operation op : {operation::layer_norm, operation::rms_norm}) {
        auto x = random_elements<double>(rows * cols, -1, 2), gamma = random_elements<double>(cols, -2, 2),
             beta = random_elements<double>(cols);
        const auto dy = random_elements<double>(rows * cols);
        const reference expected(op, x, gamma, dy, cols, epsilon, 1);
        const auto loss = [&] {
            const expected_norm y(op, x, gamma, op == operation::layer_norm ? beta : std::vector<double>{},
                                  cols, epsilon, 1);
            double sum = 0;
            for (std::size_t i = 0; i < dy.size(); ++i) sum += dy[i] * y.values[i];
            return sum;
        };
        const auto compare = [&](std::vector<double>& variables, const std::vector<double>& gradient) {
            for (std::size_t i = 0; i < variables.size(); ++i) {
                const double at = variables[i];
                variables[i] = at + step;
                const double above = loss();
                variables[i] = at - step;
                const double below = loss();
                variables[i] = at;
                EXPECT_NEAR((above - below) / (2 * step), gradient[i], 1e-6 * (1 + std::abs(gradient[i])));
            }
        };
        compare(x, expected.dx);
        compare(gamma, expected.dgamma);
        if (op == operation::layer_norm) compare(beta, expected.dbeta);
    }
}

/// Sums of many rows may be beyond half's numbers, which end at 65504.
TEST(are_within, takes_the_infinity_that_a_number_rounds_to) {
    const float inf = std::numeric_limits<float>::infinity();
    const auto takes = [](float actual, double expected) {
        return bool{are_within(std::vector{half(actual)}, {expected}, {80.0})};
    };
    EXPECT_TRUE(takes(-inf, -92056));
    EXPECT_TRUE(takes(inf, 65500));
    EXPECT_TRUE(takes(65504, 65500));
    for (const auto& [actual, expected] : {std::pair{inf, -92056.0},
                                           {-65504.0f, -92056.0},
                                           {inf, 65400.0},
                                           {std::nanf(""), 92056.0},
                                           {inf, std::nan("")}})
        EXPECT_FALSE(takes(actual, expected)) << actual << " for " << expected;
}

TEST(norm_gradient_arguments, have_an_epsilon_that_is_a_number) {
    const std::vector<float> x(24);
    std::vector<float> dx(24);
    expect_error("layer_norm_gradient: options.epsilon is nan, expected zero or more", [&] {
        layer_norm_gradient<float>({x.data(), 4, 6}, {}, {x.data(), 4, 6}, {dx.data(), 4, 6}, {}, {},
                                   no_stream, {.epsilon = std::numeric_limits<float>::quiet_NaN()});
    });
}

const device_traits h100{.compute_capability_major = 9,
                         .compute_capability_minor = 0,
                         .sm_count = 132,
                         .max_threads_per_sm = 2048,
                         .shared_memory_per_sm = 233472,
                         .shared_memory_per_block_optin = 232448};

/// A problem whose operands have one layout.
norm_gradient_problem problem_of(const matrix_layout& m, bool has_scratch = true) {
    const vector_layout sums{m.cols, 1, m.element_bytes};
    return {m, m, m, sums, sums, sums, has_scratch};
}

TEST(norm_gradient_select, vectorises_rows_that_fit_in_registers) {
    using enum norm_gradient_algorithm;
    device_traits a100 = h100;
    a100.compute_capability_major = 8;
    for (const std::int64_t bytes : {2, 4})
        for (const std::int64_t offset : {0, 2})
            for (const auto& [device, most] : {std::pair{h100, 65536}, {a100, 8192}}) {
                EXPECT_EQ(select(problem_of({9, most, most, 1, bytes, offset * bytes}), device), vectorized);
                EXPECT_EQ(select(problem_of({9, most + 8, most + 8, 1, bytes, offset * bytes}), device),
                          block_per_row);
            }
    const norm_gradient_problem apart = problem_of({9, 12, 24, 2});
    EXPECT_EQ(select(apart, h100), block_per_row);
    EXPECT_EQ(
        why_not(vectorized, apart, h100),
        "norm_gradient: vectorized needs the elements of each row and of gamma side by side; given: rows "
        "9, cols 12, unit_stride false, element_bytes 4, compute capability 9.0");
    EXPECT_EQ(
        why_not(vectorized, problem_of({9, 65540}), h100),
        "norm_gradient: vectorized takes rows of at most 8192 elements, 65536 where blocks form clusters, "
        "and of what shared memory has room for; given: rows 9, cols 65540, element_bytes 4, compute "
        "capability 9.0");
    device_traits small = h100;
    small.shared_memory_per_block_optin = 101376;
    EXPECT_EQ(select(problem_of({9, 8192, 8192, 1, 2}), small), vectorized);
    EXPECT_EQ(select(problem_of({9, 8192}), small), block_per_row);
    EXPECT_EQ(why_not(naive, problem_of({9, 12}, false), h100),
              "norm_gradient: naive needs scratch memory; given: rows 9, cols 12, element_bytes 4, "
              "has_scratch false, compute capability 9.0");
    EXPECT_EQ(why_not(naive, norm_gradient_problem{{9, 9}, {9, 9}, {9, 9}, {}, {}, {}, false}, h100), "");
}

TEST(norm_gradient_workspace, is_of_column_sums_alone) {
    EXPECT_EQ(norm_gradient_workspace_bytes(norm_gradient_problem{{9, 9}, {9, 9}, {9, 9}}, h100), 0);
    EXPECT_EQ(norm_gradient_workspace_bytes(problem_of({0, 9}), h100), 0);
    // A row of partial sums for each of two blocks a multiprocessor, for dgamma and for dbeta.
    EXPECT_GE(norm_gradient_workspace_bytes(problem_of({8192, 4096}), h100), 2 * 132 * 2 * 4096 * 4);
    // A row for each cluster of four, as many as the multiprocessors can run at once. There are fewer of eight, as a
    // GPC's places may be no multiple of eight.
    EXPECT_GE(norm_gradient_workspace_bytes(problem_of({1024, 16384}), h100), 66 * 2 * 16384 * 4);
    EXPECT_LT(
        norm_gradient_workspace_bytes(problem_of({1024, 32768}), h100, norm_gradient_algorithm::vectorized),
        33 * 2 * 32768 * 4);
}

}  // namespace
}  // namespace heddle::test
