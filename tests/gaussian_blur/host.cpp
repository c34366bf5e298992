#include "tests/gaussian_blur/checks.hpp"

namespace heddle::test {
namespace {

class host_gaussian_blur : public testing::TestWithParam<pixel_type> {};
INSTANTIATE_TEST_SUITE_P(all, host_gaussian_blur, testing::ValuesIn(pixel_types), parameter_names());

TEST_P(host_gaussian_blur, is_right_at_every_shape_and_border) {
    with_type(GetParam(), []<class T>() {
        int turn = 0;
        for (const problem& sized : problems_of_one_channel())
            for (const std::int64_t channels : {1, 2, 3, 4})
                for (const border kind : borders) {
                    problem p = skewed(sized, turn++).with(kind);
                    p.channels = channels;
                    check_image(p, layouts[static_cast<std::size_t>(channels) % layouts.size()],
                                on_host<T>());
                    if (testing::Test::HasFatalFailure()) return;
                }
    });
}

TEST_P(host_gaussian_blur, takes_windows_far_larger_than_the_image) {
    with_type(GetParam(), []<class T>() {
        for (const border kind : borders)
            check_image(problem{7, 5, 1, {1200, 900}}.with(kind), layout::tight, on_host<T>());
    });
}

TEST_P(host_gaussian_blur, blurs_regions_as_the_whole) {
    with_type(GetParam(), []<class T>() {
        for (const window_radius radius : {window_radius{2}, {9, 4}, {5, 17}, {20, 40}})
            for (const border kind : borders) {
                const problem p{67, 53, 1 + static_cast<std::int64_t>(kind) % 4, radius};
                check_regions(p.with(kind), layout::odd, on_host<T>());
            }
    });
}

TEST_P(host_gaussian_blur, blurs_batches) {
    with_type(GetParam(), []<class T>() {
        check_batch({33, 21, 3, 2}, 1, layout::odd, on_host<T>());
        check_batch({65, 40, 1, {5, 3}}, 3, layout::odd, on_host<T>());
        check_batch({3, 2, 2, 1}, 1000, layout::odd, on_host<T>());
    });
}

TEST_P(host_gaussian_blur, of_drawn_problems_is_right) {
    with_type(GetParam(), []<class T>() { check_drawn_problems(on_host<T>()); });
}

TEST(host_gaussian_blur_of_uint8, rounds_as_float64_nearly_everywhere) {
    check_rounding_of_uint8(on_host<std::uint8_t>());
}

TEST(host_gaussian_blur_taps, of_zero_take_nothing_from_nan_and_infinity) {
    check_weights_of_zero(on_host<float>());
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
