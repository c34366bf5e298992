#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

class gaussian_blur_of_large_images : public gaussian_blur_rung {
  protected:
    /// A square of uint8: its corners, its middle and both ends of some rows.
    void check_square(std::int64_t side, const window_radius& radius, const blur_sigma& sigma) {
        const std::int64_t size = side * side, canaries = 256;
        constexpr std::byte canary{0xa5};
        const heddle::stream& s = *stream;
        const problem p{side, side, 1, radius, sigma, border::reflect};
        SCOPED_TRACE(text(p));
        const std::int64_t scratch = gaussian_blur_workspace_bytes(p.described<std::uint8_t>(),
                                                                   traits_of(current_device()), GetParam());
        const std::int64_t needed = 2 * size + scratch + (std::int64_t{1} << 28);
        if (!has_free_memory(static_cast<std::size_t>(needed)))
            GTEST_SKIP() << "needs " << needed / 1000000000 + 1 << " GB of free device memory";

        // Random elements, again and again: each copy doubles them.
        const std::vector<std::uint8_t> period = random_elements<std::uint8_t>(1000003, 0, 255);
        const auto period_size = static_cast<std::int64_t>(period.size());
        device_buffer<std::uint8_t> source(size, s), destination(size + 2 * canaries, s);
        copy(period, vector_view<std::uint8_t>{source.data(), period_size}, s);
        for (std::int64_t filled = period_size; filled < size; filled *= 2) {
            const std::int64_t count = std::min(filled, size - filled);
            copy(vector_view<const std::uint8_t>{source.data(), count},
                 vector_view<std::uint8_t>{source.data() + filled, count}, s);
        }
        fill_bytes(destination, canary, s);
        std::uint8_t* const first = destination.data() + canaries;
        if (!blur<std::uint8_t>(p, {{source.data(), side, side}}, {{first, side, side}}, options_of(p),
                                GetParam()))
            return;

        const bound<std::uint8_t> allowed(p, 255, on_device<std::uint8_t>().bound_of(p));
        const auto pixel = [&](std::int64_t x, std::int64_t y) {
            return to_double(period[static_cast<std::size_t>((y * side + x) % period_size)]);
        };
        const std::int64_t cols = 24, rows = 16, last_col = side - cols, last_row = side - rows;
        const std::int64_t at_2_to_31 = std::min((std::int64_t{1} << 31) / side - rows / 2, side / 3);
        for (const auto& [left, top] : {std::pair{std::int64_t{0}, std::int64_t{0}},
                                        {last_col, std::int64_t{0}},
                                        {std::int64_t{0}, last_row},
                                        {last_col, last_row},
                                        {side / 2, side / 2},
                                        {last_col, at_2_to_31},
                                        {std::int64_t{0}, at_2_to_31}}) {
            std::vector<std::uint8_t> window(static_cast<std::size_t>(rows * cols));
            copy_and_wait(matrix_view<const std::uint8_t>{first + top * side + left, rows, cols, side},
                          matrix_view<std::uint8_t>{window.data(), rows, cols}, s);
            for (std::int64_t i = 0; i < rows * cols; ++i) {
                const std::int64_t x = left + i % cols, y = top + i / cols;
                const double expected = pixel_in_double(p, x, y, pixel);
                // No element is negative, so that the result is the sum of magnitudes too.
                ASSERT_TRUE(
                    is_within(to_double(window[static_cast<std::size_t>(i)]), expected, allowed(expected)))
                    << "at " << x << ", " << y;
            }
        }
        std::vector<std::byte> around(canaries);
        for (const std::uint8_t* canaries_at : {first - canaries, first + size}) {
            copy_and_wait(vector_view{reinterpret_cast<const std::byte*>(canaries_at), canaries}, around, s);
            EXPECT_EQ(around, std::vector<std::byte>(canaries, canary));
        }
    }
};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_large_images, testing::ValuesIn(every_rung_by_its_plan()),
                         parameter_names());

/// On 132 multiprocessors so many rows that blocks come in four waves; and in two of those for large radii.
TEST_P(gaussian_blur_of_large_images, are_tall) {
    const problem small{3, 400000, 1, 2}, large{2, 500000, 1, 17};
    check_region_of_many(small.with(border::reflect), {0, 0, small.width, small.height}, 1, layout::aligned,
                         on_device<std::uint8_t>());
    check_region_of_many(large.with(border::reflect), {0, 0, large.width, large.height}, 1, layout::tight,
                         on_device<float>());
}

TEST_P(gaussian_blur_of_large_images, large_of_more_than_2_to_31_elements) {
    check_square(46400, 1, 0.5);
    if (GetParam() == algorithm::naive) return;  // it would take seconds
    check_square(46400, 5, 2);
    check_square(46400, 17, 6);
}
TEST_P(gaussian_blur_of_large_images, large_of_32768_by_32768) {
    check_square(32768, {2, 3}, {0.8, 1.2});
    if (GetParam() != algorithm::naive) check_square(32768, 40, 10);
}

}  // namespace
}  // namespace heddle::test
