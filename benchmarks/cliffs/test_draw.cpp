#include "benchmarks/cliffs/case.hpp"
#include "tests/fuzz/draw.hpp"

#include <gtest/gtest.h>

namespace heddle::bench::cliffs {

using namespace fuzz;
namespace {

constexpr std::uint64_t draws = 2000;

bool has_area(std::span<const std::int64_t> extents) {
    return bounded_product(extents[0], extents[1]) <= 1 << 28;
}

drawing drawing_of(std::uint64_t index) {
    return drawing({"test", 7, index});
}

TEST(cliffs_draw, same_seed_gives_the_same_numbers_on_every_machine) {
    drawing d({"matmul", 12345, 17});
    EXPECT_EQ(d.bits(), 12646600414195406177u);
    EXPECT_EQ(d.integer(1, 1000000), 956477);
    EXPECT_EQ(d.log_uniform(0.5, 50), 0x1.8716717f0cbfp+0);
    EXPECT_EQ(d.extent(1, 1 << 20, extent_kind::odd), 893751);
    EXPECT_EQ(draw_case({"matmul", 12345, 17}).words, draw_case({"matmul", 12345, 17}).words);
}

TEST(cliffs_draw, case_depends_on_family_seed_and_index) {
    std::set<std::uint64_t> bits;
    for (const char* family : {"matmul", "rows"})
        for (const std::uint64_t seed : {1, 2})
            for (const std::uint64_t index : {0, 1}) bits.insert(drawing({family, seed, index}).bits());
    EXPECT_EQ(bits.size(), 8);
}

TEST(cliffs_draw, log_uniform_has_as_many_in_each_octave) {
    std::vector<int> octaves(10);
    for (std::uint64_t i = 0; i < draws; ++i) {
        const double drawn = drawing_of(i).log_uniform(1, 1024);
        ASSERT_GE(drawn, 1);
        ASSERT_LT(drawn, 1024);
        ++octaves[static_cast<std::size_t>(std::log2(drawn))];
    }
    for (const int count : octaves) EXPECT_NEAR(count, draws / 10, 5 * std::sqrt(draws / 10));
}

TEST(cliffs_draw, extents_are_of_their_kind_and_log_uniform) {
    constexpr std::int64_t most = 1 << 20;
    for (const extent_kind kind : {extent_kind::odd, extent_kind::multiple_of_8, extent_kind::power_of_two}) {
        int below_middle = 0;
        for (std::uint64_t i = 0; i < draws; ++i) {
            const std::int64_t extent = drawing_of(i).extent(1, most, kind);
            ASSERT_GE(extent, 1);
            ASSERT_LE(extent, most);
            const bool is_of_kind = kind == extent_kind::odd ? extent % 2 == 1
                                    : kind == extent_kind::multiple_of_8
                                        ? extent % 8 == 0
                                        : std::has_single_bit(static_cast<std::uint64_t>(extent));
            ASSERT_TRUE(is_of_kind) << extent;
            if (extent < 1 << 10) ++below_middle;
        }
        // A multiple of 8 is at least 8.
        const double share = kind == extent_kind::multiple_of_8 ? 7.0 / 17 : 0.5;
        EXPECT_NEAR(below_middle, share * draws, 0.06 * draws);
    }
}

TEST(cliffs_draw, extents_without_one_of_their_kind_are_within_their_range) {
    for (std::uint64_t i = 0; i < draws; ++i) {
        EXPECT_EQ(drawing_of(i).extent(6, 6, extent_kind::odd), 6);
        const std::int64_t extent = drawing_of(i).extent(33, 38, extent_kind::power_of_two);
        EXPECT_TRUE(extent >= 33 && extent <= 38);
        EXPECT_EQ(drawing_of(i).extent(5, 7, extent_kind::multiple_of_8) / 8, 0);
    }
}

TEST(cliffs_draw, a_third_of_the_extents_is_of_each_kind) {
    double count = 0, odd = 0, multiples_of_8 = 0, powers_of_two = 0;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const auto extents = drawing_of(i).extents(2, has_area);
        for (const std::int64_t extent : extents) {
            ++count;
            if (extent % 2 == 1) ++odd;
            if (extent % 8 == 0) ++multiples_of_8;
            if (std::has_single_bit(static_cast<std::uint64_t>(extent))) ++powers_of_two;
        }
    }
    // Most powers of two are multiples of 8; 1 is odd and a power of two.
    EXPECT_NEAR(odd / count, 0.38, 0.06);
    EXPECT_NEAR(multiples_of_8 / count, 0.6, 0.08);
    EXPECT_NEAR(powers_of_two / count, 0.38, 0.06);
}

TEST(cliffs_draw, aspect_ratios_reach_far_and_no_further) {
    double largest = 0;
    int squares = 0;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const auto e = drawing_of(i).extents(2, has_area);
        const double ratio =
            static_cast<double>(std::max(e[0], e[1])) / static_cast<double>(std::min(e[0], e[1]));
        largest = std::max(largest, ratio);
        if (e[0] == e[1]) ++squares;
    }
    EXPECT_GT(largest, 1e5);
    EXPECT_LE(largest, most_ratio);
    EXPECT_GT(squares, draws / 40);
}

TEST(cliffs_draw, cases_keep_to_their_limits) {
    for (const family& family : families()) {
        double largest_memory = 0;
        for (std::uint64_t i = 0; i < draws; ++i) {
            const case_id id{std::string(family.name), 3, i};
            const drawn_case c = draw_case(id);
            ASSERT_LE(c.memory, most_bytes) << to_string(id) << ' ' << c.words;
            ASSERT_LE(c.operations, most_operations) << to_string(id) << ' ' << c.words;
            ASSERT_LE(c.bytes, 3 * most_bytes) << to_string(id) << ' ' << c.words;
            ASSERT_GT(c.bytes, 0) << to_string(id);
            ASSERT_FALSE(c.extents.empty());
            const auto [least, most] = std::ranges::minmax(c.extents);
            ASSERT_GE(least, 1) << to_string(id);
            ASSERT_LE(static_cast<double>(most), most_ratio * static_cast<double>(least)) << to_string(id);
            largest_memory = std::max(largest_memory, c.memory);
        }
        EXPECT_GT(largest_memory, 0.2 * most_bytes) << family.name;
    }
}

TEST(cliffs_draw, cases_of_a_family_differ) {
    for (const family& family : families()) {
        std::set<std::string> words;
        for (std::uint64_t i = 0; i < draws; ++i)
            words.insert(draw_case({std::string(family.name), 3, i}).words);
        EXPECT_GT(words.size(), draws * 9 / 10) << family.name;
    }
}

TEST(cliffs_draw, the_first_of_a_pair_has_no_more_to_do) {
    for (const family& family : families()) {
        std::set<double> limits;
        for (std::uint64_t i = 0; i < 60; ++i)
            for (const case_pair& pair : draw_pairs({std::string(family.name), 3, i})) {
                EXPECT_NE(pair.first.words, pair.second.words);
                EXPECT_LE(pair.first.bytes, pair.second.bytes)
                    << pair.first.words << " | " << pair.second.words;
                limits.insert(pair.most);
            }
        EXPECT_FALSE(limits.empty()) << family.name;
    }
}

TEST(cliffs_draw, case_names_are_read_back) {
    const case_id id{"matmul", 12345, 17};
    EXPECT_EQ(to_string(id), "matmul:12345:17");
    EXPECT_EQ(parse_case_id("matmul:12345:17"), id);
    for (const char* text :
         {"", "matmul", "matmul:1", ":1:2", "matmul:1:2:3", "matmul:x:2", "matmul:1:", "matmul:-1:2"})
        EXPECT_FALSE(parse_case_id(text)) << text;
    EXPECT_THROW(draw_case({"nonsense", 1, 1}), std::invalid_argument);
}

TEST(cliffs_draw, spans_have_their_gaps) {
    EXPECT_EQ(span_of({}, 3, 5), 15);
    EXPECT_EQ(span_of({.offset = 1, .padding = 2, .step = 3}, 3, 5), 1 + 3 * (15 + 2));
    constexpr std::int64_t large = std::int64_t{1} << 40;
    EXPECT_EQ(span_of({}, large, large), std::int64_t{1} << 60);
    EXPECT_EQ(span_of({.padding = 2, .column_major = true}, 3, 5), 5 * (3 + 2));
}

}  // namespace
}  // namespace heddle::bench::cliffs
