#include "kernels/device/row_plan.hpp"

#include "tests/support/headers.hpp"

namespace heddle::kernels {
namespace {

constexpr int sm_count = 132, warp = 32;

struct capacity {
    int width;
    int most_elements;
    int most_blocks;
};

/// The limits of every operation that divides its rows in this way.
constexpr capacity capacities[] = {{1, row_limits::large_elements, row_limits::usual_blocks},
                                   {4, row_limits::large_elements, row_limits::usual_blocks},
                                   {8, row_limits::medium_elements, row_limits::usual_blocks},
                                   {8, row_limits::large_elements, row_limits::usual_blocks},
                                   {1, row_limits::large_elements, row_limits::most_blocks},
                                   {4, row_limits::large_elements, row_limits::most_blocks},
                                   {8, row_limits::packed_elements, row_limits::most_blocks}};

/// Checks two packets to either side of each border, and more columns than any memory has.
template <class Check>
void for_cols_around_borders(int width, const Check& check) {
    for (std::int64_t border = 1; border <= std::int64_t{1} << 50; border *= 2)
        for (std::int64_t packets = border / width - 2; packets <= border / width + 2; ++packets)
            if (packets > 0) check(packets * width);
}

TEST(row_plan, gives_every_element_to_a_thread_of_its_row) {
    for (const capacity& most : capacities)
        for (const bool has_clusters : {false, true})
            for_cols_around_borders(most.width, [&](std::int64_t cols) {
                constexpr std::int64_t rows = 1001;
                const row_plan plan = plan_rows(rows, cols, most.width, sm_count, has_clusters,
                                                most.most_elements, most.most_blocks);
                SCOPED_TRACE(testing::Message() << cols << " columns in packets of " << most.width << ", "
                                                << most.most_elements << " elements a thread");
                ASSERT_LE(plan.elements, most.most_elements);
                ASSERT_LE(plan.cluster, has_clusters ? most.most_blocks : 1);
                const std::int64_t threads_of_row = plan.cluster * plan.threads.x;
                if (plan.kind == row_plan::holder::lanes) {
                    ASSERT_LE(plan.elements, row_limits::large_elements);
                    ASSERT_LE(plan.threads.x, warp);
                    ASSERT_EQ(plan.threads.x * plan.threads.y, row_limits::lanes_threads);
                    ASSERT_GE(plan.blocks * plan.threads.y, rows);
                } else {
                    ASSERT_LE(plan.threads.x, row_limits::block_threads);
                    ASSERT_EQ(plan.threads.x % warp, 0);
                    ASSERT_EQ(plan.blocks, rows * plan.cluster);
                }
                if (plan.kind != row_plan::holder::streamed) {
                    ASSERT_GE(threads_of_row * plan.elements, cols);
                }
            });
}

TEST(row_plan, reads_twice_only_what_the_largest_cluster_does_not_hold) {
    for (const capacity& most : capacities)
        for (const bool has_clusters : {false, true})
            for_cols_around_borders(most.width, [&](std::int64_t cols) {
                const std::int64_t held = std::int64_t{most.most_elements} * row_limits::block_threads *
                                          (has_clusters ? most.most_blocks : 1);
                const row_plan plan = plan_rows(7, cols, most.width, sm_count, has_clusters,
                                                most.most_elements, most.most_blocks);
                ASSERT_EQ(plan.kind == row_plan::holder::streamed, cols > held) << cols << " columns";
            });
}

// No more blocks a cluster than usual are guaranteed. More are used only for rows that do not fit the usual clusters.
TEST(row_plan, takes_large_clusters_only_for_rows_that_usual_ones_do_not_hold) {
    for (const auto& [cols, cluster] : {std::pair{131072, 8}, {131076, 16}, {262144, 16}, {262148, 8}})
        EXPECT_EQ(plan_rows(7, cols, 4, sm_count, true, row_limits::large_elements, row_limits::most_blocks)
                      .cluster,
                  cluster)
            << cols << " columns";
    EXPECT_LE(plan_rows(7, 131076, 4, sm_count, true).cluster, row_limits::usual_blocks);
}

// Only 16-bit packets are packed in registers.
TEST(row_plan, packs_rows_of_which_each_multiprocessor_has_one) {
    const auto packed = [](std::int64_t rows, std::int64_t cols, bool has_clusters = true) {
        return plan_rows(rows, cols, 8, sm_count, has_clusters, row_limits::packed_elements,
                         row_limits::most_blocks);
    };
    const auto expect = [](const row_plan& plan, int elements, int blocks_of_row) {
        EXPECT_EQ(plan.kind, row_plan::holder::block);
        EXPECT_EQ(plan.elements, elements);
        EXPECT_EQ(plan.cluster, blocks_of_row);
    };
    expect(packed(sm_count, 32000), row_limits::packed_elements, 1);
    expect(packed(sm_count, 32776), row_limits::packed_elements, 4);
    // With few rows, clusters keep more multiprocessors busy.
    expect(packed(sm_count - 1, 32000), row_limits::large_elements, 4);
    expect(packed(16, 262144), row_limits::large_elements, 16);
    EXPECT_EQ(packed(16, 32000).blocks, 64);
    // Nothing else holds these rows.
    expect(packed(16, 262152), row_limits::packed_elements, 16);
    expect(packed(16, 16392, false), row_limits::packed_elements, 1);
}

// So is the rung vectorized_squares planned, whose threads hold no elements: 16-bit rows get as many threads as others.
TEST(row_plan, has_as_many_threads_for_rows_in_packets_where_none_are_packed) {
    for (const std::int64_t cols : {8200, 16384, 32000, 32768})
        for (const std::int64_t rows : {16, 10000}) {
            const row_plan of_8 = plan_rows(rows, cols, 8, sm_count, true),
                           of_1 = plan_rows(rows, cols, 1, sm_count, true);
            EXPECT_EQ(of_8.threads.x, of_1.threads.x) << cols << " columns";
            EXPECT_EQ(of_8.blocks, of_1.blocks) << cols << " columns";
            EXPECT_GE(of_8.cluster * of_8.threads.x * row_limits::large_elements, cols) << cols << " columns";
        }
}

}  // namespace
}  // namespace heddle::kernels
