#include "tests/support/headers.hpp"

// Choices, workspaces and depths of the operations that add: reductions of vectors and of matrices, and scans.
namespace heddle::test {
namespace {

const device_traits h200_like{.sm_count = 132};
const device_traits with_clusters{.compute_capability_major = 9, .sm_count = 132};

std::span<const reduce_algorithm> rungs_of(const reduce_problem&) {
    return reduce_algorithms();
}
std::span<const scan_algorithm> rungs_of(const scan_problem&) {
    return scan_algorithms();
}
std::span<const matrix_reduce_algorithm> rungs_of(const matrix_reduce_problem&) {
    return matrix_reduce_algorithms();
}
std::int64_t bytes_of(const reduce_problem& p, reduce_algorithm rung, const device_traits& on = h200_like) {
    return reduce_workspace_bytes(p, on, rung);
}
std::int64_t bytes_of(const scan_problem& p, scan_algorithm rung, const device_traits& on = h200_like) {
    return scan_workspace_bytes(p, on, rung);
}
std::int64_t bytes_of(const matrix_reduce_problem& p, matrix_reduce_algorithm rung,
                      const device_traits& on = with_clusters) {
    return matrix_reduce_workspace_bytes(p, on, rung);
}
std::int64_t depth_of(const reduce_problem& p, reduce_algorithm rung, const device_traits& on = h200_like) {
    return reduce_depth(p, on, rung);
}
std::int64_t depth_of(const scan_problem& p, scan_algorithm rung, const device_traits& on = h200_like) {
    return scan_depth(p, on, rung);
}
std::int64_t depth_of(const matrix_reduce_problem& p, matrix_reduce_algorithm rung,
                      const device_traits& on = with_clusters) {
    return matrix_reduce_depth(p, on, rung);
}

/// A workspace and a bound of the error of one problem hold for the other.
template <class Problem>
void expect_alike(const Problem& one, const Problem& other) {
    for (const auto rung : with_automatic(rungs_of(one)))
        for (const device_traits& device : {h200_like, with_clusters}) {
            EXPECT_EQ(bytes_of(one, rung, device), bytes_of(other, rung, device)) << to_string(rung);
            EXPECT_EQ(depth_of(one, rung, device), depth_of(other, rung, device)) << to_string(rung);
        }
}

/// No tree of additions of n elements is flatter than log2(n); n - 1 is one addition after another. end(rung) is above
/// the depth.
template <class Problem, class End>
void expect_trees(const Problem& of, int exponent, End end) {
    for (const auto rung : with_automatic(rungs_of(of)))
        for (const device_traits& device : {h200_like, with_clusters}) {
            const std::int64_t depth = depth_of(of, rung, device);
            ASSERT_GE(depth, exponent) << to_string(rung);
            ASSERT_LT(depth, end(rung)) << to_string(rung) << ", 2^" << exponent << " elements";
        }
}

/// Some rung runs the problem without scratch memory, and has_scratch does not change a workspace's bytes.
template <class Problem>
void expect_to_need_no_scratch_memory(const Problem& with, int exponent, const device_traits& device) {
    Problem without = with;
    without.has_scratch = false;
    const auto taken = select(without, device);
    EXPECT_EQ(why_not(taken, without, device), "");
    EXPECT_GE(depth_of(without, decltype(taken)::automatic, device), exponent);
    for (const auto rung : with_automatic(rungs_of(with)))
        EXPECT_EQ(bytes_of(without, rung, device), bytes_of(with, rung, device)) << to_string(rung);
}

scan_problem scan_of(std::int64_t size, std::int64_t element_bytes = 4) {
    const vector_layout lies{size, 1, element_bytes};
    return {lies, lies};
}

TEST(additions, need_one_launch) {
    for (const reduce_problem& p : {reduce_problem{{10}}, {{std::int64_t{1} << 32}}, {{1000, 3}}})
        EXPECT_EQ(select(p, h200_like), reduce_algorithm::single_pass);
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1} << 32})
        EXPECT_EQ(select(scan_of(size), h200_like), scan_algorithm::look_back);
}

TEST(additions, are_alike_at_any_alignment) {
    for (const std::int64_t stride : {1, 3})
        for (int exponent = 0; exponent <= 40; ++exponent) {
            const vector_layout x{std::int64_t{1} << exponent, stride};
            reduce_problem other{x, x};
            other.y.offset = 4;
            expect_alike(other, {x, x});
        }
    for (const std::int64_t rows : {1, 70, 3000, 70000})
        for (const std::int64_t cols : {1, 8, 100, 1000, 100000}) {
            const matrix_view<const half> x{nullptr, rows, cols};
            for (const matrix_reduce_problem& aligned : {row_problem(x), column_problem(x)}) {
                matrix_reduce_problem other = aligned;
                other.x.offset = 2;
                expect_alike(other, aligned);
            }
        }
}

TEST(scan_workspace, and_depth_are_the_same_at_any_strides_and_alignment) {
    for (const std::int64_t size : {1, 2047, 2049, 8191, 8193, 300007})
        for (const std::int64_t offset : {0, 4, 8, 12})
            for (const std::int64_t stride : {1, 3})
                for (const vector_layout& x : {vector_layout{size}, {size, stride, 4, offset}})
                    expect_alike({x, {size, stride, 4, offset}}, scan_of(size));
}

TEST(additions, lie_between_a_perfect_tree_and_a_chain) {
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    for (int exponent = 0; exponent <= 40; ++exponent) {
        const std::int64_t size = std::int64_t{1} << exponent;
        const auto of_vectors = [=](auto) { return exponent >= 10 ? size / 8 : any; };
        for (const std::int64_t bytes : {2, 4, 8})
            for (const std::int64_t stride : {1, 3})
                expect_trees(reduce_problem{{size, stride, bytes}}, exponent, of_vectors);
        for (const std::int64_t bytes : {4, 8}) expect_trees(scan_of(size, bytes), exponent, of_vectors);
        const auto of_rows = [=](auto rung) {
            return rung == matrix_reduce_algorithm::vectorized && exponent >= 14 ? size / 32 + 64 : any;
        };
        for (const std::int64_t bytes : {2, 4})
            for (int down = 0; down <= 20 && exponent <= 30; down += 5) {
                const std::int64_t rows = std::int64_t{1} << down;
                for (const matrix_layout& x :
                     {matrix_layout{rows, size, size, 1, bytes}, {rows, size, 1, rows, bytes}})
                    expect_trees(matrix_reduce_problem{x}, exponent, of_rows);
            }
    }
}

/// One block or one cluster of single_pass, and one block of reduce_then_scan, take any size.
TEST(additions, need_no_scratch_memory) {
    const device_traits ampere{.compute_capability_major = 8, .sm_count = 132};
    for (int exponent = 0; exponent <= 40; ++exponent) {
        const std::int64_t n = std::int64_t{1} << exponent;
        for (const device_traits& device : {ampere, with_clusters})
            expect_to_need_no_scratch_memory(reduce_problem{{n}}, exponent, device);
        expect_to_need_no_scratch_memory(scan_of(n), exponent, h200_like);
        const scan_problem without{scan_of(n).x, scan_of(n).y, false};
        EXPECT_EQ(
            lack_in(why_not(scan_algorithm::look_back, without, h200_like)),
            scan_workspace_bytes(without, h200_like) == 0 ? "" : "scan: look_back needs scratch memory");
        for (const matrix_layout& x : {matrix_layout{3, n}, {3, n, 1, 3}}) {
            expect_to_need_no_scratch_memory(matrix_reduce_problem{x}, exponent, with_clusters);
            for (const auto rung : with_automatic(matrix_reduce_algorithms()))
                EXPECT_EQ(why_not(rung, matrix_reduce_problem{x, false}, with_clusters), "");
        }
    }
}

TEST(reduce_why_not, says_what_a_rung_needs) {
    const reduce_problem dense{{1000}}, strided{{1000, 3}};
    EXPECT_EQ(why_not(reduce_algorithm::vectorized, strided, h200_like),
              "reduce: vectorized needs x.stride 1; given: size 1000, stride 3, element_bytes 4, compute "
              "capability 0.0");
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        EXPECT_EQ(why_not(algorithm, dense, h200_like), "") << to_string(algorithm);
        if (algorithm == reduce_algorithm::vectorized) continue;
        EXPECT_EQ(why_not(algorithm, strided, h200_like), "") << to_string(algorithm);
    }
}

TEST(reduce_why_not, knows_which_rungs_an_operation_has) {
    const reduce_problem strided{{1000, 3}};
    EXPECT_EQ(why_not(reduce_operation::min, reduce_algorithm::vectorized, strided, h200_like),
              "min: vectorized needs x.stride 1; given: size 1000, stride 3, element_bytes 4, compute "
              "capability 0.0");
    EXPECT_EQ(why_not(reduce_operation::argmax, reduce_algorithm::vectorized, strided, h200_like),
              "argmax: vectorized is a rung of sum, min and max alone");
    for (const reduce_operation operation : reduce_operations())
        for (const auto algorithm : {reduce_algorithm::automatic, reduce_algorithm::single_pass})
            EXPECT_EQ(why_not(operation, algorithm, strided, h200_like), "") << to_string(operation);
}

TEST(reduce_problem_of, says_how_vectors_lie) {
    alignas(256) static double values[64];
    const vector_view<const double> x{values, 9, 3}, y{values + 3, 9};
    EXPECT_EQ(reduce_problem_of(x), (reduce_problem{{9, 3, 8}}));
    EXPECT_EQ(reduce_problem_of(x, y, {.scratch = scratch::none}),
              (reduce_problem{{9, 3, 8}, {9, 1, 8, 24}, false}));
    expect_error("reduce_problem_of: y.size is 8, expected 9 (x.size)", [&] {
        (void)reduce_problem_of(x, {values, 8});
    });
}

TEST(reduce_why_not, says_which_rungs_need_scratch_memory) {
    EXPECT_EQ(why_not(reduce_algorithm::interleaved, {{1 << 20}, {}, false}, h200_like),
              "reduce: interleaved needs scratch memory; given: size 1048576, stride 1, element_bytes 4, "
              "has_scratch false, compute capability 0.0");
    EXPECT_EQ(why_not(reduce_algorithm::interleaved, {{256}, {}, false}, h200_like), "");
}

TEST(reduce_workspace, is_needed_by_several_blocks_only) {
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        for (const std::int64_t size : {0, 1, 256})
            EXPECT_EQ(reduce_workspace_bytes({{size}}, h200_like, algorithm), 0);
        EXPECT_GT(reduce_workspace_bytes({{1 << 20}}, h200_like, algorithm), 0);
    }
    // Partials of 16 bytes after 4096 for the ticket; the second launch turns 257 of them into 2.
    EXPECT_EQ(reduce_workspace_bytes({{257}}, h200_like, reduce_algorithm::interleaved), 4096 + 2 * 16);
    EXPECT_EQ(reduce_workspace_bytes({{65537}}, h200_like, reduce_algorithm::sequential),
              4096 + (257 + 2) * 16);
    EXPECT_EQ(reduce_workspace_bytes({{65537}}, h200_like, reduce_algorithm::first_add_on_load),
              4096 + 129 * 16);
}

TEST(reduce_workspace, is_not_needed_by_a_lone_cluster) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle was not compiled for clusters";
    const auto bytes = [](std::int64_t size) { return reduce_workspace_bytes({{size}}, with_clusters); };
    EXPECT_EQ(bytes(1 << 14), 0);
    EXPECT_EQ(bytes(1 << 17), 0);
    EXPECT_GT(bytes(1 << 20), 0);
}

TEST(reduce_workspace, of_a_bounded_grid_is_bounded) {
    for (const auto algorithm : {reduce_algorithm::warp_shuffle, reduce_algorithm::vectorized,
                                 reduce_algorithm::single_pass, reduce_algorithm::automatic}) {
        const auto bytes = [&](int exponent) {
            return reduce_workspace_bytes({{std::int64_t{1} << exponent}}, h200_like, algorithm);
        };
        EXPECT_EQ(bytes(30), bytes(40)) << to_string(algorithm);
        EXPECT_LT(bytes(40), 64 << 10) << to_string(algorithm);
    }
}

TEST(reduce_problem, is_checked) {
    const auto expect_rejected = [](const std::string& rest, const reduce_problem& problem,
                                    reduce_algorithm algorithm = reduce_algorithm::automatic) {
        expect_error("reduce_workspace_bytes: " + rest,
                     [&] { (void)reduce_workspace_bytes(problem, h200_like, algorithm); });
        expect_error("reduce_depth: " + rest, [&] { (void)reduce_depth(problem, h200_like, algorithm); });
    };
    expect_rejected("problem.size is -1, expected zero or more", {{-1}});
    expect_rejected("problem.element_bytes is 0, expected 1 to 8", {{1, 1, 0}});
    expect_rejected("problem.element_bytes is 16, expected 1 to 8", {{1, 1, 16}});
    expect_rejected("problem.y.offset is 256, expected 0 to 255", {{1}, {1, 1, 4, 256}});
    expect_rejected("problem is one of operands that disagree, expected one that a _problem_of() makes",
                    {{1}, {2}});
    expect_rejected("options.algorithm is 99, expected an enumerator of reduce_algorithm", {{1}},
                    static_cast<reduce_algorithm>(99));
}

TEST(reduce_operations, have_names_of_their_own) {
    std::set<std::string_view> names = {"unknown"};
    for (const reduce_operation operation : reduce_operations())
        EXPECT_TRUE(names.insert(to_string(operation)).second) << to_string(operation);
    EXPECT_EQ(names.size(), 11u);
    EXPECT_EQ(to_string(static_cast<reduce_operation>(99)), "unknown");
}

TEST(reduce_operations, have_all_rungs_or_two) {
    for (const reduce_operation operation : reduce_operations()) {
        SCOPED_TRACE(to_string(operation));
        const bool has_all = operation == reduce_operation::sum || operation == reduce_operation::min ||
                             operation == reduce_operation::max;
        EXPECT_EQ(reduce_algorithms(operation).size(), has_all ? reduce_algorithms().size() : 2);
        EXPECT_EQ(reduce_algorithms(operation).back(), reduce_algorithm::single_pass);
    }
}

TEST(scan_why_not, is_empty_of_every_rung) {
    const scan_problem apart{{1000}, {1000, 3}};
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        EXPECT_EQ(why_not(algorithm, apart, h200_like), "") << to_string(algorithm);
}

TEST(scan_workspace, is_needed_by_several_blocks_only) {
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        for (const std::int64_t element_bytes : {4, 8})
            for (const std::int64_t size : {0, 1, 2040})
                EXPECT_EQ(scan_workspace_bytes(scan_of(size, element_bytes), h200_like, algorithm), 0);
    EXPECT_EQ(scan_workspace_bytes(scan_of(std::int64_t{1} << 40), h200_like, scan_algorithm::naive), 0);
    // Two tiles of 2048 elements, a group, a supergroup.
    EXPECT_EQ(scan_workspace_bytes(scan_of(2049), h200_like, scan_algorithm::look_back), 4096 + 4 * 8);
    EXPECT_EQ(scan_workspace_bytes(scan_of(2049, 8), h200_like, scan_algorithm::look_back), 4096 + 4 * 16);
    EXPECT_EQ(scan_workspace_bytes(scan_of(2049), h200_like, scan_algorithm::reduce_then_scan), 4096 + 16);
    expect_error("scan_workspace_bytes: problem.size is -1, expected zero or more",
                 [] { (void)scan_workspace_bytes(scan_of(-1), h200_like); });
    expect_error("scan_depth: problem.y.offset is -4, expected 0 to 255", [] {
        (void)scan_depth({{1}, {1, 1, 4, -4}}, h200_like);
    });
    expect_error("scan_depth: problem.element_bytes is 2, expected 4 or 8",
                 [] { (void)scan_depth(scan_of(1, 2), h200_like); });
}

TEST(scan_why_not, says_what_a_rung_needs_and_what_was_given) {
    EXPECT_EQ(why_not(scan_algorithm::look_back, {{1 << 20, 1, 8}, {1 << 20, 3, 8, 8}, false}, h200_like),
              "scan: look_back needs scratch memory; given: size 1048576, element_bytes 8, unit_stride "
              "false, misalignment 1, x_is_alike false, has_scratch false, compute capability 0.0");
}

TEST(matrix_reduce_workspace, is_needed_by_rows_that_blocks_share_only) {
    const auto bytes = [](std::int64_t rows, std::int64_t cols) {
        return matrix_reduce_workspace_bytes({{rows, cols}}, with_clusters);
    };
    EXPECT_EQ(bytes(0, 0), 0);
    EXPECT_EQ(bytes(4096, 4096), 0);
    EXPECT_EQ(bytes(1 << 20, 8), 0);
    EXPECT_EQ(bytes(64, 1 << 20), 4096 + 64 * 16 * 16);  // 16 blocks a row, 16 bytes each
    const matrix_view<const float> tall{nullptr, 65536, 1024};
    EXPECT_GT(matrix_reduce_workspace_bytes(column_problem(tall), with_clusters), 4096);
    for (const auto algorithm : {matrix_reduce_algorithm::naive, matrix_reduce_algorithm::coalesced})
        EXPECT_EQ(matrix_reduce_workspace_bytes({{1, 1 << 20}}, with_clusters, algorithm), 0);
}

/// Then blocks share the few rows.
TEST(matrix_reduce_workspace, is_needed_by_few_long_rows_of_any_strides) {
    for (const matrix_reduce_problem& problem :
         {matrix_reduce_problem{{3, 1 << 20, 3 << 20, 2}}, {{3, 1 << 20, 2, 7}}}) {
        EXPECT_GT(matrix_reduce_workspace_bytes(problem, with_clusters), 4096);
        EXPECT_LT(matrix_reduce_depth(problem, with_clusters), 256);
    }
    EXPECT_EQ(matrix_reduce_workspace_bytes({{1 << 20, 100, 300, 3}}, with_clusters), 0);
}

TEST(matrix_reduce_workspace, is_bounded) {
    for (int down = 0; down <= 40; ++down)
        for (int across = 0; across <= 40 && down + across <= 58; ++across) {
            const matrix_view<const float> x{nullptr, std::int64_t{1} << down, std::int64_t{1} << across};
            EXPECT_LT(matrix_reduce_workspace_bytes(row_problem(x), with_clusters), 64 << 10);
            EXPECT_LT(matrix_reduce_workspace_bytes(column_problem(x), with_clusters), 8 << 20);
        }
}

TEST(matrix_reduce_problem, is_checked) {
    expect_error("matrix_reduce_workspace_bytes: problem.rows is -1, expected zero or more",
                 [&] { (void)matrix_reduce_workspace_bytes({{-1}}, with_clusters); });
    expect_error("matrix_reduce_depth: problem.element_bytes is 8, expected 2 or 4", [&] {
        (void)matrix_reduce_depth({{1, 1, 1, 1, 8}}, with_clusters);
    });
}

}  // namespace
}  // namespace heddle::test
