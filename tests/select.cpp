#include "tests/support/headers.hpp"

// The rung that `automatic` takes, the reasons why a rung cannot run, and the problems of calls. No device is needed.
namespace heddle::test {
namespace {

const device_traits device{.compute_capability_major = 9, .sm_count = 132, .max_threads_per_sm = 2048};
const device_traits h100{.compute_capability_major = 9,
                         .compute_capability_minor = 0,
                         .sm_count = 132,
                         .max_threads_per_sm = 2048,
                         .shared_memory_per_sm = 233472,
                         .shared_memory_per_block_optin = 232448};

template <class Problem>
struct choice {
    Problem problem;
    decltype(select(std::declval<Problem>(), device)) chosen;
};
template <class Problem>
void expect_choices(std::initializer_list<choice<Problem>> all, const device_traits& on = device) {
    for (const auto& [problem, chosen] : all) {
        EXPECT_EQ(select(problem, on), chosen) << to_string(chosen);
        EXPECT_EQ(why_not(chosen, problem, on), "");
    }
}

/// Each of these rungs, and `automatic`, can run the problem.
template <class Algorithm, class Problem>
void expect_to_run(const Problem& problem, const std::vector<Algorithm>& rungs) {
    for (const Algorithm each : with_automatic(std::span(rungs)))
        EXPECT_EQ(why_not(each, problem, device), "") << to_string(each);
}
template <class Algorithm>
std::vector<Algorithm> all_of(std::span<const Algorithm> rungs) {
    return {rungs.begin(), rungs.end()};
}

/// An address that is a multiple of 256 bytes.
template <class T>
T* aligned_values() {
    alignas(256) static T values[64];
    return values;
}

TEST(elementwise_rungs, take_every_problem) {
    using problem = elementwise_problem;
    for (const matrix_layout& lies : {matrix_layout{1, 1000}, {1000, 3}})
        expect_choices<problem>({{{1, {{lies, lies}}}, elementwise_algorithm::vectorized}});
    const matrix_layout apart{9, 5, 20, 2};
    expect_to_run(problem{3, {{apart, apart, apart, apart}}}, all_of(elementwise_algorithms()));
    const auto text = [&](const problem& wrong) {
        return invalid_argument_of([&] { (void)why_not(elementwise_algorithm::naive, wrong, device); });
    };
    EXPECT_EQ(text({4, {}}), "why_not: problem.inputs is 4, expected 1 to 3");
    EXPECT_EQ(text({1, {{{1, 1, 1, 1, 16}, {1, 1, 1, 1, 16}}}}),
              "why_not: problem.element_bytes is 16, expected 2, 4 or 8");
    EXPECT_EQ(text({2, {{{3, 4}, {3, 5}, {3, 4}}}}),
              "why_not: problem is one of operands that disagree, expected one that a _problem_of() makes");
    EXPECT_EQ(text({1, {{{1, 1, 1, 1, 4, -4}, {1, 1}}}}), "why_not: problem.offset is -4, expected 0 to 255");
}

TEST(elementwise_problem_of, says_how_operands_lie) {
    half* const values = aligned_values<half>();
    const vector_view<const half> x{values + 3, 9}, y{values, 9, 0};
    EXPECT_EQ(elementwise_problem_of(x, y, vector_view<half>{values, 9}),
              (elementwise_problem{2, {{{9, 1, 1, 1, 2, 6}, {9, 1, 0, 1, 2}, {9, 1, 1, 1, 2}}}}));
    expect_error("elementwise_problem_of: x.size is 9, expected 8 (y.size)", [&] {
        (void)elementwise_problem_of(x, vector_view<half>{nullptr, 8});
    });
}

TEST(elementwise_operations, have_names_and_inputs) {
    for (const elementwise_operation operation : elementwise_operations()) {
        EXPECT_FALSE(to_string(operation).empty());
        EXPECT_GE(input_count(operation), 1);
        EXPECT_LE(input_count(operation), 3);
    }
}

TEST(histogram_rungs, are_chosen_by_size_stride_and_bins) {
    using enum histogram_algorithm;
    const histogram_problem apart{{100, 2, 1}}, wide{{100, 2, 1}, 12289};
    expect_choices<histogram_problem>({{{{100, 1, 1}}, vectorized},
                                       {apart, shared_memory},
                                       {{{100, 1, 1}, 12289}, cached},
                                       {{{1 << 24, 1, 4}, 12289}, vectorized},
                                       {{{1 << 24, 1, 4}, 100000}, vectorized},
                                       {{{1 << 24, 2, 4}, 100000}, cached},
                                       {{{10000, 1, 4}, 100000}, cached},
                                       {{{1 << 30, 1, 4}, 1 << 21}, cached}},
                                      h100);
    expect_to_run(wide, std::vector{naive, cached});
    EXPECT_EQ(why_not(vectorized, apart, h100),
              "histogram: vectorized needs x.stride 1; given: size 100, stride 2, bins 256, element_bytes "
              "1, compute capability 9.0");
    EXPECT_EQ(
        why_not(vectorized, wide, h100),
        "histogram: vectorized needs x.stride 1; given: size 100, stride 2, bins 12289, element_bytes 1, "
        "compute capability 9.0");
    EXPECT_EQ(why_not(vectorized, {{9, 1, 4, 4}, 1048577}, h100),
              "histogram: vectorized takes at most 1048576 bins; given: size 9, stride 1, bins 1048577, "
              "element_bytes 4, head 3, compute capability 9.0");
    EXPECT_EQ(why_not(shared_memory, {{9, 1, 4, 4}, 20000}, h100),
              "histogram: shared_memory takes at most 12288 bins; given: size 9, stride 1, bins 20000, "
              "element_bytes 4, head 3, compute capability 9.0");
    expect_error("why_not: problem.x.offset is 256, expected 0 to 255", [&] {
        (void)why_not(naive, {{1, 1, 4, 256}}, device);
    });
}

TEST(histogram_problem_of, says_how_a_vector_lies) {
    EXPECT_EQ(
        histogram_problem_of(vector_view<const float>{aligned_values<float>() + 3, 9, 2}, {nullptr, 50}),
        (histogram_problem{{9, 2, 4, 12}, 50}));
    expect_error("histogram_problem_of: counts.size is 50, expected 256", [] {
        (void)histogram_problem_of(vector_view<const std::uint8_t>{nullptr, 9}, {nullptr, 50});
    });
}

TEST(loss_rungs, are_vectorized_where_rows_lie_side_by_side) {
    using enum loss_algorithm;
    const matrix_layout dense{100, 9}, apart{100, 9, 18, 2};
    expect_choices<loss_problem>(
        {{{dense}, vectorized}, {{dense, {}, apart}, warp_per_row}, {{dense, apart, dense}, warp_per_row}});
    const auto problem = loss_problem_of<float>({nullptr, 100, 12, 24, 2}, {});
    EXPECT_EQ(why_not(vectorized, problem, device),
              "loss: vectorized needs each row's elements side by side; given: rows 100, cols 12, "
              "unit_stride false, element_bytes 4, compute capability 9.0");
    expect_to_run(problem, std::vector{naive, warp_per_row});
    expect_error("select: problem.element_bytes is 8, expected 2 or 4", [&] {
        (void)select(loss_problem{{1, 1, 1, 1, 8}}, device);
    });
    expect_error("loss_problem_of: target.cols is 5, expected 4 (prediction.cols)", [&] {
        (void)loss_problem_of<float>({nullptr, 3, 4}, {nullptr, 3, 5}, {});
    });
}

TEST(matrix_reduce_rungs, take_any_strides) {
    using enum matrix_reduce_algorithm;
    const matrix_reduce_problem dense{{10, 20}}, across{{10, 20, 1, 10}}, apart{{10, 20, 60, 3}},
        apart_across{{10, 20, 3, 30}}, row{{1, 20, 60, 3}};
    for (const matrix_reduce_problem& problem : {dense, across, apart, apart_across, row}) {
        expect_choices<matrix_reduce_problem>({{problem, vectorized}});
        expect_to_run(problem, all_of(matrix_reduce_algorithms()));
    }
}

const matrix_layout apart_rows{100, 9, 18, 2}, many_rows{1 << 20, 9}, many_columns{1 << 20, 9, 1, 1 << 20};

TEST(norm_rungs, are_vectorized_where_rows_lie_side_by_side) {
    using enum norm_algorithm;
    expect_choices<norm_problem>({{{{1, 9}, {1, 9}}, vectorized},
                                  {{apart_rows, apart_rows}, strips},
                                  {{many_columns, many_rows}, strips}});
    const norm_problem apart{{100, 12}, {100, 12}, {12, 2}};
    const std::string lack =
        "norm: vectorized needs the elements of each row, of gamma and of beta side by side";
    EXPECT_EQ(
        why_not(vectorized, apart, device),
        lack + "; given: rows 100, cols 12, unit_stride false, element_bytes 4, compute capability 9.0");
    EXPECT_EQ(why_not(vectorized, norm_problem_of<half>({nullptr, 5, 9, 1, 5}, {}, {}, {nullptr, 5, 9, 1, 5}),
                      device),
              lack +
                  "; given: rows 5, cols 9, unit_stride false, element_bytes 2, in_packets false, "
                  "x_in_columns true, y_in_columns true, compute capability 9.0");
    expect_to_run(apart, std::vector{block_per_row});
    expect_to_run(norm_problem{{100, 9}, {100, 9}}, std::vector{vectorized});
    expect_error("why_not: problem.element_bytes is 8, expected 2 or 4", [&] {
        (void)why_not(naive, {{1, 1, 1, 1, 8}, {1, 1, 1, 1, 8}}, device);
    });
    expect_error("norm_problem_of: gamma.size is 3, expected 0 or 4 (y.cols)", [&] {
        (void)norm_problem_of<float>({nullptr, 3, 4}, {nullptr, 3}, {}, {nullptr, 3, 4});
    });
}

/// A problem whose operands have one layout.
norm_gradient_problem gradient_of(const matrix_layout& m, bool has_scratch = true) {
    const vector_layout sums{m.cols, 1, m.element_bytes};
    return {m, m, m, sums, sums, sums, has_scratch};
}

TEST(norm_gradient_rungs, are_vectorized_where_rows_fit_in_registers) {
    using enum norm_gradient_algorithm;
    device_traits a100 = h100;
    a100.compute_capability_major = 8;
    for (const std::int64_t bytes : {2, 4})
        for (const std::int64_t offset : {0, 2})
            for (const auto& [on, most] : {std::pair{h100, 65536}, {a100, 8192}}) {
                EXPECT_EQ(select(gradient_of({9, most, most, 1, bytes, offset * bytes}), on), vectorized);
                EXPECT_EQ(select(gradient_of({9, most + 8, most + 8, 1, bytes, offset * bytes}), on),
                          block_per_row);
            }
    const norm_gradient_problem apart = gradient_of({9, 12, 24, 2});
    EXPECT_EQ(select(apart, h100), block_per_row);
    EXPECT_EQ(
        why_not(vectorized, apart, h100),
        "norm_gradient: vectorized needs the elements of each row and of gamma side by side; given: rows "
        "9, cols 12, unit_stride false, element_bytes 4, compute capability 9.0");
    EXPECT_EQ(
        why_not(vectorized, gradient_of({9, 65540}), h100),
        "norm_gradient: vectorized takes rows of at most 8192 elements, 65536 where blocks form clusters, "
        "and of what shared memory has room for; given: rows 9, cols 65540, element_bytes 4, compute "
        "capability 9.0");
    device_traits small = h100;
    small.shared_memory_per_block_optin = 101376;
    EXPECT_EQ(select(gradient_of({9, 8192, 8192, 1, 2}), small), vectorized);
    EXPECT_EQ(select(gradient_of({9, 8192}), small), block_per_row);
    EXPECT_EQ(why_not(naive, gradient_of({9, 12}, false), h100),
              "norm_gradient: naive needs scratch memory; given: rows 9, cols 12, element_bytes 4, "
              "has_scratch false, compute capability 9.0");
    EXPECT_EQ(why_not(naive, norm_gradient_problem{{9, 9}, {9, 9}, {9, 9}, {}, {}, {}, false}, h100), "");
}

TEST(norm_gradient_workspace, is_of_column_sums_alone) {
    const auto bytes = [](const norm_gradient_problem& problem) {
        return norm_gradient_workspace_bytes(problem, h100);
    };
    EXPECT_EQ(bytes({{9, 9}, {9, 9}, {9, 9}}), 0);
    EXPECT_EQ(bytes(gradient_of({0, 9})), 0);
    // A row of partial sums for each of two blocks a multiprocessor, for dgamma and for dbeta.
    EXPECT_GE(bytes(gradient_of({8192, 4096})), 2 * 132 * 2 * 4096 * 4);
    // A row for each cluster of four, as many as the multiprocessors can run at once. There are fewer of eight, as a
    // GPC's places may be no multiple of eight.
    EXPECT_GE(bytes(gradient_of({1024, 16384})), 66 * 2 * 16384 * 4);
    EXPECT_LT(
        norm_gradient_workspace_bytes(gradient_of({1024, 32768}), h100, norm_gradient_algorithm::vectorized),
        33 * 2 * 32768 * 4);
}

TEST(optimizer_rungs, take_every_list) {
    using enum optimizer_algorithm;
    expect_choices<optimizer_problem>(
        {{{}, vectorized}, {{1, 1}, vectorized}, {{148, 124439808}, vectorized}});
    expect_to_run(optimizer_problem{10000, std::int64_t{1} << 40}, all_of(optimizer_algorithms()));
    expect_error("select: problem.elements is -1, expected zero or more",
                 [] { (void)select(optimizer_problem{.elements = -1}, device); });
}

TEST(gradient_norm_workspace, is_for_what_more_than_one_block_does) {
    EXPECT_EQ(gradient_norm_workspace_bytes({}, device), 0);
    EXPECT_EQ(gradient_norm_workspace_bytes({2, 1000}, device), 0);
    const std::int64_t of_one = gradient_norm_workspace_bytes({512, 1 << 20}, device);
    EXPECT_GT(of_one, 4096);
    EXPECT_EQ(gradient_norm_workspace_bytes({513, 1 << 20}, device) - 4096, 2 * (of_one - 4096));
}

TEST(pool_rungs, take_every_window) {
    using enum pool_algorithm;
    const auto problem_of = [](std::int64_t count, std::int64_t height, std::int64_t width,
                               std::int64_t channels, const pool_geometry& geometry = {}) {
        return pool_problem_of<half>({nullptr, count, height, width, channels},
                                     tensor_view<half>{nullptr, count, pool_output_height(height, geometry),
                                                       pool_output_width(width, geometry), channels},
                                     {.geometry = geometry});
    };
    for (const pool_problem& p :
         {problem_of(1, 1, 1, 1), problem_of(2, 9, 11, 8, {{3, 3}, {2, 2}, {1, 1, 1, 1}}),
          problem_of(1, 0, 0, 4, {{2, 1}, {1, 1}, {1, 2, 1, 0}}), problem_of(1, 10, 9, 7, {{4, 5}, {3, 1}}),
          problem_of(1, 129, 257, 64, {{129, 257}})}) {
        expect_choices<pool_problem>({{p, vectorized}});
        expect_to_run(p, all_of(pool_algorithms()));
    }
    expect_choices<pool_problem>({{problem_of(0, 3, 3, 8), naive}});
    pool_problem problem = problem_of(1, 8, 8, 16, {{3, 3}});
    problem.output.height = 7;
    expect_error("select: output.height is 7, expected 6 (pool_output_height())",
                 [&] { (void)select(problem, device); });
}

TEST(random_rungs, are_vectorized_where_rows_lie_side_by_side) {
    using enum random_algorithm;
    const random_problem apart{{3, 100, 300, 2}};
    expect_choices<random_problem>({{{{3, 100}}, vectorized}, {apart, counter_per_thread}});
    const std::string lack = "random: vectorized needs each row's elements side by side; given: rows ";
    EXPECT_EQ(why_not(vectorized, apart, device),
              lack + "3, cols 100, element_bytes 4, unit_stride false, compute capability 9.0");
    EXPECT_EQ(why_not(vectorized, random_problem_of(matrix_view<double>{nullptr, 9, 5, 1, 20}), device),
              lack +
                  "9, cols 5, element_bytes 8, block_elements 2, unit_stride false, is_crossed true, compute "
                  "capability 9.0");
    expect_to_run(apart, std::vector{naive});
    expect_error("why_not: problem.element_bytes is 3, expected 1, 2, 4 or 8", [&] {
        (void)why_not(naive, random_problem{{1, 1, 1, 1, 3}}, device);
    });
    constexpr std::int64_t far = std::int64_t{1} << 62;
    expect_error(
        "select: problem.row_stride is 4611686018427387904, expected a stride whose bytes fit 63 bits", [&] {
            (void)select(random_problem{{3, 4, far}}, device);
        });
}

TEST(random_problem_of, says_how_operands_lie) {
    float* const values = aligned_values<float>();
    const matrix_view<float> y{values + 4, 3, 5, 8};
    EXPECT_EQ(random_problem_of(y, false), (random_problem{{3, 5, 8, 1, 4, 16}, {}, false}));
    EXPECT_EQ(random_problem_of(vector_view<float>{values, 9, 2}), (random_problem{{9, 1, 2}}));
    EXPECT_EQ(random_problem_of(matrix_view<const float>{values, 3, 5}, y),
              (random_problem{{3, 5, 8, 1, 4, 16}, {3, 5}, false}));
    expect_error("random_problem_of: x.cols is 4, expected 5 (y.cols)", [&] {
        (void)random_problem_of(matrix_view<float>{nullptr, 3, 4}, y);
    });
}

TEST(softmax_gradient_rungs, are_vectorized_where_rows_lie_side_by_side) {
    using enum softmax_gradient_algorithm;
    const matrix_layout dense{100, 9};
    const softmax_gradient_problem apart{dense, apart_rows, dense};
    expect_choices<softmax_gradient_problem>({{{dense, dense, dense}, vectorized}, {apart, block_per_row}});
    EXPECT_EQ(why_not(vectorized, apart, device),
              "softmax_gradient: vectorized needs each row's elements side by side; given: rows 100, cols "
              "9, unit_stride false, element_bytes 4, in_packets false, compute capability 9.0");
    expect_to_run(apart, std::vector{naive});
}

TEST(transpose_rungs, take_packets_where_there_are_any_and_no_tile_for_a_strip) {
    using enum transpose_algorithm;
    // Row-major matrices, whose source has elements `step` apart.
    const auto problem_of = [](std::int64_t rows, std::int64_t cols, std::int64_t step = 1) {
        return transpose_problem{{rows, cols, cols * step, step}, {cols, rows}};
    };
    const transpose_problem apart = problem_of(100, 12, 2);
    expect_choices<transpose_problem>({
        {problem_of(4096, 4096), vectorized},
        {problem_of(15, 1000), vectorized},
        {problem_of(100, 9), vectorized},
        {problem_of(4096, 4096, 2), shared_memory},
        {problem_of(1000, 16, 2), shared_memory},
        {problem_of(15, 1000, 2), naive},
        {{{1, 1000}, {1000, 1}}, vectorized},
        // Copies of rows, also of a source with gaps down its columns.
        {{{9, 1000}, {1000, 9, 1, 1000}}, vectorized},
        {{{9, 1000, 1, 20}, {1000, 9, 20, 1}}, vectorized},
    });
    EXPECT_EQ(
        why_not(vectorized, apart, device),
        "transpose: vectorized needs the elements of source and of destination side by side along one "
        "dimension; given: rows 100, cols 12, element_bytes 4, unit_stride false, compute capability 9.0");
    expect_to_run(apart, std::vector{shared_memory});
    EXPECT_EQ(transpose_algorithms().size(), 3u);
    EXPECT_EQ(to_string(shared_memory), "shared_memory");
}

TEST(transpose_problem_of, says_how_matrices_lie) {
    EXPECT_EQ(
        transpose_problem_of<std::uint16_t>({nullptr, 3, 4, 5}, {aligned_values<std::uint16_t>() + 8, 4, 3}),
        (transpose_problem{{3, 4, 5, 1, 2}, {4, 3, 3, 1, 2, 16}}));
    expect_error("transpose_problem_of: destination.rows is 3, expected 4 (source.cols)", [&] {
        (void)transpose_problem_of<float>({nullptr, 3, 4}, {nullptr, 3, 4});
    });
}

}  // namespace
}  // namespace heddle::test
