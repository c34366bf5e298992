#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

const device_traits h200_like{.compute_capability_major = 9,
                              .sm_count = 132,
                              .shared_memory_per_sm = 228 << 10,
                              .shared_memory_per_block_optin = 227 << 10};

TEST(histogram_select, is_the_best_that_can_run) {
    EXPECT_EQ(select(histogram_problem{{100, 1, 1}}, h200_like), histogram_algorithm::vectorized);
    EXPECT_EQ(select(histogram_problem{{100, 2, 1}}, h200_like), histogram_algorithm::shared_memory);
    EXPECT_EQ(select(histogram_problem{{100, 1, 1}, 12289}, h200_like), histogram_algorithm::cached);
    EXPECT_EQ(select(histogram_problem{{1 << 24, 1, 4}, 12289}, h200_like), histogram_algorithm::vectorized);
    EXPECT_EQ(select(histogram_problem{{1 << 24, 1, 4}, 100000}, h200_like), histogram_algorithm::vectorized);
    EXPECT_EQ(select(histogram_problem{{1 << 24, 2, 4}, 100000}, h200_like), histogram_algorithm::cached);
    EXPECT_EQ(select(histogram_problem{{10000, 1, 4}, 100000}, h200_like), histogram_algorithm::cached);
    EXPECT_EQ(select(histogram_problem{{1 << 30, 1, 4}, 1 << 21}, h200_like), histogram_algorithm::cached);
}

TEST(histogram_why_not, says_what_a_rung_needs) {
    const histogram_problem apart{{100, 2, 1}}, wide{{100, 2, 1}, 12289};
    const auto text = [](histogram_algorithm algorithm, const histogram_problem& problem) {
        return why_not(algorithm, problem, h200_like);
    };
    EXPECT_EQ(text(histogram_algorithm::vectorized, apart),
              "histogram: vectorized needs x.stride 1; given: size 100, stride 2, bins 256, element_bytes "
              "1, compute capability 9.0");
    EXPECT_EQ(
        text(histogram_algorithm::vectorized, wide),
        "histogram: vectorized needs x.stride 1; given: size 100, stride 2, bins 12289, element_bytes 1, "
        "compute capability 9.0");
    EXPECT_EQ(text(histogram_algorithm::vectorized, {{9, 1, 4, 4}, 1048577}),
              "histogram: vectorized takes at most 1048576 bins; given: size 9, stride 1, bins 1048577, "
              "element_bytes 4, head 3, compute capability 9.0");
    EXPECT_EQ(text(histogram_algorithm::shared_memory, {{9, 1, 4, 4}, 20000}),
              "histogram: shared_memory takes at most 12288 bins; given: size 9, stride 1, bins 20000, "
              "element_bytes 4, head 3, compute capability 9.0");
    EXPECT_EQ(text(histogram_algorithm::shared_memory, apart), "");
    EXPECT_EQ(text(histogram_algorithm::naive, wide), "");
    EXPECT_EQ(text(histogram_algorithm::cached, wide), "");
    EXPECT_EQ(text(histogram_algorithm::automatic, wide), "");
    expect_error("why_not: problem.x.offset is 256, expected 0 to 255", [&] {
        (void)text(histogram_algorithm::naive, {{1, 1, 4, 256}});
    });
}

TEST(histogram_problem_of, says_how_a_vector_lies) {
    alignas(256) static float values[64];
    EXPECT_EQ(histogram_problem_of(vector_view<const float>{values + 3, 9, 2}, {nullptr, 50}),
              (histogram_problem{{9, 2, 4, 12}, 50}));
    expect_error("histogram_problem_of: counts.size is 50, expected 256", [] {
        (void)histogram_problem_of(vector_view<const std::uint8_t>{nullptr, 9}, {nullptr, 50});
    });
}

}  // namespace
}  // namespace heddle::test
