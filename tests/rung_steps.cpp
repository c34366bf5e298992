#include "tests/bounds/loss.hpp"
#include "tests/bounds/norm.hpp"
#include "tests/bounds/softmax.hpp"
#include "tests/support/headers.hpp"

/// The steps of sums that the rungs' rows state, for rows of 2^20 elements: once more, so that an error in a row shows.
namespace heddle::test {
namespace {

constexpr std::int64_t cols = 1 << 20;

template <class Algorithm, class Steps>
void expect_steps(Steps steps_of, const std::vector<std::pair<std::string_view, double>>& expected) {
    std::vector<std::pair<std::string_view, double>> actual = {{"automatic", steps_of(Algorithm::automatic)}};
    for (int each = 1; to_string(static_cast<Algorithm>(each)) != "unknown"; ++each)
        actual.emplace_back(to_string(static_cast<Algorithm>(each)), steps_of(static_cast<Algorithm>(each)));
    EXPECT_EQ(actual, expected);
}

TEST(rung_steps, are_those_of_softmax) {
    expect_steps<softmax_algorithm>(
        [](auto rung) { return bounds::softmax_steps_of(rung, cols).additions; },
        {{"automatic", 8232}, {"naive", 4353}, {"online", 4105}, {"strips", 8232}, {"vectorized", 2112}});
    expect_steps<softmax_algorithm>(
        [](auto rung) { return bounds::softmax_steps_of(rung, cols).rescalings; },
        {{"automatic", 8232}, {"naive", 0}, {"online", 4105}, {"strips", 8232}, {"vectorized", 132}});
    expect_steps<softmax_gradient_algorithm>(
        [](auto rung) { return bounds::softmax_gradient_depth(rung, cols); },
        {{"automatic", 4105}, {"naive", 4353}, {"block_per_row", 4105}, {"vectorized", 2112}});
}

TEST(rung_steps, are_those_of_norms) {
    expect_steps<norm_algorithm>([](auto rung) { return bounds::norm_depth(rung, cols); },
                                 {{"automatic", 8232},
                                  {"naive", 4353},
                                  {"block_per_row", 4105},
                                  {"strips", 8232},
                                  {"vectorized", 2112}});
    expect_steps<norm_gradient_algorithm>(
        [](auto rung) { return bounds::norm_gradient_depth(rung, cols); },
        {{"automatic", 4105}, {"naive", 4353}, {"block_per_row", 4105}, {"vectorized", 64}});
}

TEST(rung_steps, are_those_of_losses) {
    expect_steps<loss_algorithm>(
        [](auto rung) { return bounds::loss_steps_of(rung, cols).additions; },
        {{"automatic", 32774}, {"naive", 4353}, {"warp_per_row", 32774}, {"vectorized", 2112}});
    expect_steps<loss_algorithm>(
        [](auto rung) { return bounds::loss_steps_of(rung, cols).rescalings; },
        {{"automatic", 32770}, {"naive", 0}, {"warp_per_row", 32770}, {"vectorized", 132}});
}

}  // namespace
}  // namespace heddle::test
