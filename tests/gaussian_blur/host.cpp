#include "tests/gaussian_blur/checks.hpp"

namespace heddle::test {
namespace {

TEST(host_gaussian_blur_of_uint8, rounds_as_float64_nearly_everywhere) {
    check_rounding_of_uint8(on_host<std::uint8_t>());
}

TEST(host_gaussian_blur, keeps_a_nan_in_its_windows) {
    for (const window_radius radius : {window_radius{0}, {1}, {2}, {7}, {15}, {3, 6}})
        for (const layout how : {layout::odd, layout::aligned}) {
            ASSERT_NO_FATAL_FAILURE(check_nan(problem{41, 43, 1, radius}, how, on_host<float>()));
            ASSERT_NO_FATAL_FAILURE(check_nan(problem{41, 43, 1, radius}, how, on_host<half>()));
        }
}

TEST(host_gaussian_blur_taps, are_the_gaussian_symmetric_and_of_sum_1) {
    for (const double sigma : {0.1, 0.5, 1.0, 2.3, 10.0}) {
        const std::int64_t radius = gaussian_radius(sigma), size = 4 * radius + 1;
        std::vector<float> impulse(static_cast<std::size_t>(size), 0.0f), blurred(impulse);
        impulse[static_cast<std::size_t>(2 * radius)] = 1;
        // Along a row of constant columns only the taps along x show.
        host::gaussian_blur<float>({impulse.data(), size, 1}, image_view{blurred.data(), size, 1}, sigma);
        const problem p{size, 1, 1, radius, sigma};
        const std::vector<double> taps = bounds::gaussian(sigma, radius);
        double sum = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            const bool is_inside = std::abs(i - 2 * radius) <= radius;
            const double expected = is_inside ? taps[static_cast<std::size_t>(i - radius)] : 0;
            const float value = blurred[static_cast<std::size_t>(i)];
            EXPECT_TRUE(is_within(double{value}, expected, bound<float>(p, 1)(expected))) << i;
            EXPECT_EQ(value, blurred[static_cast<std::size_t>(size - 1 - i)]) << i;
            sum += double{value};
        }
        EXPECT_TRUE(is_within(sum, 1, bound<float>(p, 1)(1)));
    }
}

TEST(host_gaussian_blur_taps, fall_back_on_the_radius_of_sigma) {
    const problem p{61, 1, 1, gaussian_radius(2.0), 2.0};
    const std::vector<float> elements = random_pixels<float>(p.elements());
    std::vector<float> given(elements.size()), derived(elements.size());
    host::gaussian_blur<float>({elements.data(), 61, 1}, image_view{given.data(), 61, 1}, 2.0, {.radius = 8});
    host::gaussian_blur<float>({elements.data(), 61, 1}, image_view{derived.data(), 61, 1}, 2.0);
    EXPECT_EQ(given, derived);
}

TEST(host_gaussian_blur_taps, cost_nothing_where_they_vanish) {
    // A window of half a billion pixels of which some 30 count: ends at once.
    std::vector<float> elements(64, 1.0f), blurred(64);
    host::gaussian_blur<float>({elements.data(), 8, 8}, image_view{blurred.data(), 8, 8}, 1.0,
                               {.radius = std::int64_t{1} << 28});
    const problem p{8, 8, 1, 15, 1.0};
    for (const float value : blurred) EXPECT_TRUE(is_within(double{value}, 1, bound<float>(p, 1)(1)));
}

}  // namespace
}  // namespace heddle::test
