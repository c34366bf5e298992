#include "tests/gaussian_blur/rungs.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>

#include <utility>

namespace heddle::test {
namespace {

TEST_P(gaussian_blur_rung, takes_huge_windows_or_says_why_not) {
    for (const window_radius radius : {window_radius{150}, {1200}, {3, 1200}, {1200, 3}, {2, 1000}})
        for (const std::int64_t channels : {1, 4})
            for (const border kind : borders)
                ASSERT_NO_FATAL_FAILURE(run_and_check<float>(problem{19, 5, channels, radius}.with(kind)));
}

TEST_P(gaussian_blur_rung, keeps_nan_and_infinity_in_their_windows) {
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const std::int64_t radius : {0, 1, 2, 3, 5, 8, 9, 11, 15, 16, 17}) {
            const border kind = borders[static_cast<std::size_t>(radius) % borders.size()];
            const problem p = problem{150, 40, channels, radius}.with(kind);
            SCOPED_TRACE(text(p));
            std::vector<float> elements = random_pixels<float>(p.elements());
            elements[p.at(20, 10)] = std::numeric_limits<float>::quiet_NaN();
            elements[p.at(75, 19)] = std::numeric_limits<float>::infinity();
            elements[p.at(129, 31)] = -std::numeric_limits<float>::infinity();
            guarded_images<float> source(p, layout::aligned), destination(p, layout::aligned);
            source.upload(elements);
            if (!blur<float>(p, source.batch(), destination.batch(), options_of(p), GetParam())) continue;
            ASSERT_NO_FATAL_FAILURE(expect_close(p, destination.download(), elements));
        }
}

TEST_P(gaussian_blur_rung, keeps_nan_and_infinity_from_weights_of_zero) {
    check_weights_of_zero(on_device<float>());
}

TEST_P(gaussian_blur_rung, keeps_the_extremes_of_integers) {
    const auto check = [this]<class T>(T level, const window_radius& radius, layout how) {
        const problem p{67, 21, 3, radius};
        SCOPED_TRACE(text(p, how));
        guarded_images<T> source(p, how), destination(p, how);
        source.upload(std::vector<T>(static_cast<std::size_t>(p.elements()), level));
        if (!blur<T>(p, source.batch(), destination.batch(), options_of(p), GetParam())) return;
        const double allowed = std::floor(bound<T>(p, level)(level));
        for (const T value : destination.download()) ASSERT_LE(std::abs(to_double(value) - level), allowed);
    };
    const auto check_all = [&]<class T>(T) {
        constexpr T most = std::numeric_limits<T>::max();
        for (const window_radius radius : {window_radius{2}, {15}, {17}, {999, 3}, {3, 999}})
            for (const T level : {T{0}, T{1}, static_cast<T>(most - 1), most})
                for (const layout how : {layout::tight, layout::aligned}) check(level, radius, how);
    };
    check_all(std::uint8_t{});
    check_all(std::uint16_t{});
    expect_runs_of_bytes();
}

TEST_P(gaussian_blur_rung, marches_down_tall_images) {
    // On 132 multiprocessors: more rows than all blocks of one wave take at their least, so that each takes
    // more; so many that the blocks come in four waves; and in two of the blocks for large radii.
    for (const problem& sized : {problem{3, 40000, 1, 2}, problem{3, 400000, 1, 2}, problem{2, 500000, 1, 17},
                                 problem{3, 100000, 1, {1, 17}}}) {
        const problem p = sized.with(border::reflect);
        ASSERT_NO_FATAL_FAILURE(run_and_check<float>(p));
        ASSERT_NO_FATAL_FAILURE(run_and_check<std::uint8_t>(p));
        ASSERT_NO_FATAL_FAILURE(run_and_check<std::uint8_t>(p, layout::aligned));
    }
    expect_runs_of_bytes();
}

class gaussian_blur_of_large_images : public gaussian_blur_rung {
  protected:
    /// A square of uint8: its corners, its middle and both ends of some rows.
    void check_square(std::int64_t side, const window_radius& radius, const blur_sigma& sigma) {
        const std::int64_t size = side * side, canaries = 256;
        constexpr std::byte canary{0xa5};
        const stream& s = *stream_;
        const problem p{side, side, 1, radius, sigma, border::reflect};
        SCOPED_TRACE(text(p));
        const std::int64_t scratch = gaussian_blur_workspace_bytes(p.described<std::uint8_t>(),
                                                                   traits_of(current_device()), GetParam());
        const std::int64_t needed = 2 * size + scratch + (std::int64_t{1} << 28);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total));
        if (free < static_cast<std::size_t>(needed))
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
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_large_images, testing::ValuesIn(every_rung_without_variants()),
                         parameter_names());

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
