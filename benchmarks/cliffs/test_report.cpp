#include "benchmarks/cliffs/operands.hpp"
#include "benchmarks/cliffs/reference.hpp"
#include "benchmarks/cliffs/run.hpp"

#include <gtest/gtest.h>

namespace heddle::bench::cliffs {
namespace {

outcome pair_of(double us, double peer_us, bool is_stand_in = false) {
    return {.id = {"matmul", 1, 2},
            .words = "a case",
            .seconds = us * 1e-6,
            .peer = "peer",
            .peer_seconds = peer_us * 1e-6,
            .is_stand_in = is_stand_in};
}

TEST(cliffs_report, ratio_is_the_peers_time_over_heddles) {
    EXPECT_DOUBLE_EQ(ratio_of(pair_of(20, 10)), 0.5);
    EXPECT_DOUBLE_EQ(ratio_of(pair_of(10, 20)), 2);
}

TEST(cliffs_report, short_calls_are_level_within_a_microsecond) {
    EXPECT_EQ(ratio_of(pair_of(4, 3.1)), 1);
    EXPECT_EQ(ratio_of(pair_of(3.1, 4)), 1);
    EXPECT_LT(ratio_of(pair_of(4.5, 3)), 1);
    EXPECT_LT(ratio_of(pair_of(5.5, 4.7)), 1);
}

TEST(cliffs_report, summary_counts_what_is_right_and_of_its_kind) {
    outcome wrong = pair_of(100, 1);
    wrong.wrong = "element (0, 0) is nan";
    const std::vector<outcome> outcomes{pair_of(10, 5),  pair_of(10, 9),       pair_of(10, 20),
                                        pair_of(10, 10), pair_of(10, 1, true), wrong};
    const summary of_vendors = summarize(outcomes, false);
    EXPECT_EQ(of_vendors.cases, 4);
    EXPECT_NEAR(of_vendors.geometric_mean, 0.974, 0.001);  // (0.5 * 0.9 * 2 * 1)^(1/4)
    EXPECT_DOUBLE_EQ(of_vendors.below_80, 0.25);
    EXPECT_DOUBLE_EQ(of_vendors.below_95, 0.5);
    EXPECT_DOUBLE_EQ(of_vendors.below_100, 0.5);
    EXPECT_EQ(summarize(outcomes, true).cases, 1);
    EXPECT_EQ(summarize({}, false).cases, 0);
}

TEST(cliffs_report, nan_is_a_mismatch) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(mismatch("it", nan, 1, 10).empty());
    EXPECT_FALSE(mismatch("it", 1, nan, 10).empty());
    EXPECT_FALSE(mismatch("it", 1, 2, nan).empty());
    EXPECT_FALSE(mismatch("it", 1, 2.1, 1).empty());
    EXPECT_TRUE(mismatch("it", 1, 2, 1).empty());
    EXPECT_TRUE(mismatch("it", nan, nan, 0).empty());
}

TEST(cliffs_report, places_are_the_corners_and_others) {
    const auto places = sampled_places(1000, 3000, 5);
    EXPECT_EQ(places.size(), 64);
    std::set<std::pair<std::int64_t, std::int64_t>> found;
    for (const place& at : places) {
        EXPECT_TRUE(at.row >= 0 && at.row < 1000 && at.col >= 0 && at.col < 3000);
        found.emplace(at.row, at.col);
    }
    EXPECT_EQ(found.size(), 64);
    for (const std::int64_t row : {0, 999})
        for (const std::int64_t col : {0, 2999}) EXPECT_TRUE(found.contains({row, col}));
    EXPECT_EQ(sampled_places(3, 5, 5).size(), 15);
    EXPECT_EQ(sampled_places(1, 100, 5).size(), 64);
    EXPECT_EQ(sampled_places(65, 1, 5).size(), 64);
    EXPECT_EQ(sampled_places(2, 33, 5).size(), 64);
}

TEST(cliffs_report, half_of_the_places_are_at_edges) {
    constexpr std::int64_t rows = std::int64_t{1} << 24, cols = 10001;
    const auto is_edge = [](std::int64_t at, std::int64_t extent) {
        return at < 2 || at >= extent - 2 || (at + 1) % 64 <= 2;
    };
    int edges = 0;
    for (const place& at : sampled_places(rows, cols, 7))
        edges += is_edge(at.row, rows) || is_edge(at.col, cols) ? 1 : 0;
    EXPECT_GE(edges, 32);
}

TEST(cliffs_report, error_of_many_additions_grows_as_their_root) {
    constexpr double u = 0x1p-24;
    EXPECT_DOUBLE_EQ(error_of_additions(10, u), 10 * u / (1 - 10 * u));
    EXPECT_DOUBLE_EQ(error_of_additions(1 << 20, u), 16 * 1024 * u);
    EXPECT_DOUBLE_EQ(error_of_additions(1 << 26, u), 16 * 8192 * u);
}

}  // namespace
}  // namespace heddle::bench::cliffs
