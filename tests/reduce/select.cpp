#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits h200_like{.sm_count = 132};
const device_traits with_clusters{.compute_capability_major = 9, .sm_count = 132};

TEST(reduce_select, is_one_launch) {
    EXPECT_EQ(select(reduce_problem{{10}}, h200_like), reduce_algorithm::single_pass);
    EXPECT_EQ(select(reduce_problem{{std::int64_t{1} << 32}}, h200_like), reduce_algorithm::single_pass);
    EXPECT_EQ(select(reduce_problem{{1000, 3}}, h200_like), reduce_algorithm::single_pass);
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

/// One block or one cluster of single_pass takes any size.
TEST(reduce_select, needs_no_scratch_memory) {
    for (const auto& [major, minor] : {std::pair{8, 0}, {9, 0}}) {
        device_traits device = h200_like;
        device.compute_capability_major = major;
        device.compute_capability_minor = minor;
        for (int exponent = 0; exponent <= 40; ++exponent) {
            const reduce_problem with{{std::int64_t{1} << exponent}};
            reduce_problem without = with;
            without.has_scratch = false;
            const reduce_algorithm taken = select(without, device);
            EXPECT_EQ(why_not(taken, without, device), "");
            EXPECT_GE(reduce_depth(without, device), exponent);
            EXPECT_EQ(reduce_workspace_bytes(without, device), reduce_workspace_bytes(with, device));
        }
    }
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

/// A workspace and a bound of the error hold for a dot product wherever its vectors begin.
TEST(reduce_workspace, and_depth_are_the_same_at_any_alignment) {
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms()))
        for (const std::int64_t stride : {1, 3})
            for (int exponent = 0; exponent <= 40; ++exponent) {
                const vector_layout x{std::int64_t{1} << exponent, stride};
                const reduce_problem alike{x, x};
                reduce_problem other = alike;
                other.y.offset = 4;
                EXPECT_EQ(reduce_workspace_bytes(other, with_clusters, algorithm),
                          reduce_workspace_bytes(alike, with_clusters, algorithm));
                EXPECT_EQ(reduce_depth(other, with_clusters, algorithm),
                          reduce_depth(alike, with_clusters, algorithm));
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

/// No tree of additions of n elements is flatter than log2(n); n - 1 is one addition after another.
TEST(reduce_depth, lies_between_a_perfect_tree_and_a_chain) {
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms()))
        for (const std::int64_t element_bytes : {2, 4, 8})
            for (const std::int64_t stride : {1, 3})
                for (int exponent = 0; exponent <= 40; ++exponent) {
                    const std::int64_t size = std::int64_t{1} << exponent;
                    for (const device_traits& device : {h200_like, with_clusters}) {
                        const std::int64_t depth =
                            reduce_depth({{size, stride, element_bytes}}, device, algorithm);
                        ASSERT_GE(depth, exponent) << to_string(algorithm) << ' ' << size;
                        if (exponent >= 10) {
                            ASSERT_LT(depth, size / 8) << to_string(algorithm) << ' ' << size;
                        }
                    }
                }
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

}  // namespace
}  // namespace heddle::test
