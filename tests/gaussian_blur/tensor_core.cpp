#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

/// Around the edges of the strips of mma_x_registers_y, of 256 values, and of its windows, of up to 32 values. Strips are
/// longer where images are so many that the device has no multiprocessors for shorter ones.
TEST_F(gaussian_blur_test, mma_x_registers_y_is_right_for_windows_of_many_images) {
    if (!has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    constexpr std::int64_t strip_columns = 256, strip_rows = 16, most_strips_per_sm = 16;
    constexpr std::array<std::int64_t, 6> extents = {16, 255, 256, 257, 500, 1025};
    constexpr std::array<std::int64_t, 5> heights = {16, 17, 31, 64, 75};
    constexpr std::array kinds = {border::replicate, border::reflect, border::reflect_101};
    const auto check = [this](const problem& p, const image_region& region, layout how, layout of_source) {
        const std::int64_t columns = (region.width * p.channels + strip_columns - 1) / strip_columns;
        const std::int64_t strips = traits_of(current_device()).sm_count * most_strips_per_sm;
        check_region_of_many(p, region, strips * strip_rows / (columns * region.height) + 1, how,
                             on_device<std::uint8_t>(algorithm::mma_x_registers_y), of_source);
    };
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (std::int64_t radius = 0; radius <= 8; ++radius)
            for (const std::int64_t reach : {0, 3, 4, 7, 8, 9}) {
                const std::int64_t width = (extents[turn % extents.size()] + channels - 1) / channels;
                const std::int64_t height = heights[turn % heights.size()];
                const auto offset = static_cast<std::int64_t>(turn % 4) * 5;
                const problem p{width + offset, height + offset, channels, {reach / channels, radius}};
                ASSERT_NO_FATAL_FAILURE(
                    check(p.with(kinds[turn % kinds.size()]), {offset, offset / 2, width, height},
                          layouts[turn / 2 % layouts.size()], layouts[turn / 5 % layouts.size()]));
                ++turn;
            }
    // The last strip has two values, the second and third of a pixel. The mirror of the first lies before what its warp loads.
    for (const std::int64_t width : {86, 1366})
        ASSERT_NO_FATAL_FAILURE(check({width + 1, 16, 3, 1, sigma_of(1), border::reflect_101},
                                      {1, 0, width, 16}, layout::aligned, layout::aligned));
    EXPECT_GT(runs_, 0);
}

class gaussian_blur_on_warpgroups : public gaussian_blur_test {
  protected:
    void SetUp() override {
        gaussian_blur_test::SetUp();
        if (is_set_up() && !has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    }

    static constexpr std::int64_t tile_columns = 256, tile_rows = 64;

    implementation<std::uint8_t> warpgroups() { return on_device<std::uint8_t>(algorithm::wgmma_xy); }
    /// The two rungs whose pixels are the same to the bit.
    std::array<implementation<std::uint8_t>, 2> both() {
        return {warpgroups(), on_device<std::uint8_t>(algorithm::mma_xy_by_channel)};
    }
    /// So many that a block has several tiles, of several images.
    static std::int64_t many(const problem& p) {
        const std::int64_t columns = (p.row() + tile_columns - 1) / tile_columns;
        const std::int64_t tiles = columns * ((p.height + tile_rows - 1) / tile_rows);
        return 2 * traits_of(current_device()).sm_count / tiles + 1;
    }
    void check_in_turn(const problem& p, const image_region& region, std::size_t turn,
                       const implementation<std::uint8_t>& by, layout of_source = layout::aligned) {
        check_region_of_many(p, region, turn % 7 == 0 ? many(p) : 2, layouts[turn % layouts.size()], by,
                             of_source);
    }
};

/// Around the edges of tiles and strips; windows of 96 to 320 values, and one that it does not take.
TEST_F(gaussian_blur_on_warpgroups, is_right_for_any_window) {
    constexpr std::array<std::int64_t, 5> heights = {63, 64, 65, 129, 200};
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const std::int64_t reach : {3, 16, 17, 32, 33, 64, 120})
            for (const std::int64_t radius : {0, 5, 8, 15, 16, 17}) {
                const std::int64_t values =
                    tile_columns * (1 + static_cast<std::int64_t>(turn % 2)) - 1 + reach % 3;
                const window_radius window{std::min<std::int64_t>(reach / channels, 32), radius};
                const std::int64_t height = heights[(turn + turn / borders.size()) % heights.size()];
                const problem p{values / channels, height,
                                channels,          window,
                                sigma_of(window),  borders[turn % borders.size()]};
                const auto offset = static_cast<std::int64_t>(turn % 3) * 9;
                const image_region region{offset, offset, p.width - 2 * offset, p.height - offset};
                ASSERT_NO_FATAL_FAILURE(check_in_turn(p, region, turn++, warpgroups()));
            }
    EXPECT_GT(runs_, 0);
}

/// Around the edges of the strips of mma_xy_by_channel, of 16 to 64 pixels, and of its steps, of 16 rows; stored by 16 bytes,
/// words and bytes; images narrower than a window.
TEST_F(gaussian_blur_on_warpgroups, is_right_for_small_windows) {
    constexpr std::array<std::int64_t, 9> widths = {1, 5, 15, 16, 33, 64, 127, 257, 320};
    constexpr std::array<std::int64_t, 7> heights = {1, 7, 16, 17, 48, 95, 300};
    constexpr std::array<std::int64_t, 5> radii = {0, 1, 4, 8, 9};
    constexpr std::array kinds = {border::replicate, border::reflect, border::reflect_101};
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const std::int64_t reach : {0, 1, 4, 5, 7, 8, 9})
            for (const std::int64_t radius : radii) {
                const std::int64_t width = widths[turn % widths.size()],
                                   height = heights[turn % heights.size()];
                const auto offset = static_cast<std::int64_t>(turn % 2 == 0 ? turn % 11 : turn % 3 * 8);
                const problem p{width + offset, height + offset, channels, {reach, radius}};
                const border kind = kinds[(turn + turn / radii.size()) % kinds.size()];
                const image_region region{offset, offset / 2, width, height};
                for (const implementation<std::uint8_t>& by : both()) {
                    ASSERT_NO_FATAL_FAILURE(check_in_turn(p.with(kind), region, turn, by));
                    ASSERT_NO_FATAL_FAILURE(check_in_turn(p.with(kind), region, turn, by, layout::odd));
                }
                ++turn;
            }
    EXPECT_GT(runs_, 0);
}

/// mma_xy_by_channel refuses regions of radius 8 that do not begin at a multiple of 8 pixels.
TEST_F(gaussian_blur_on_warpgroups, gives_the_same_pixels_of_regions_by_both_rungs) {
    for (const std::int64_t channels : {1, 2, 3, 4}) {
        const problem p{150, 90, channels, 8};
        SCOPED_TRACE(text(p));
        guarded_images<std::uint8_t> source(p, layout::aligned);
        source.upload(random_pixels<std::uint8_t>(p.elements()));
        std::vector<std::uint8_t> of_whole;
        for (const implementation<std::uint8_t>& by : both()) {
            SCOPED_TRACE(to_string(by.which));
            guarded_images<std::uint8_t> whole(p, layout::aligned);
            if (!by.blur(p, source.batch(), whole.batch(), options_of(p))) return;
            if (of_whole.empty()) of_whole = whole.download();
            EXPECT_EQ(whole.download(), of_whole);
            for (std::int64_t x = 0; x < 16; ++x) {
                const image_region region{x, 3, p.width - x, p.height - 3};
                gaussian_blur_options options = options_of(p);
                options.region = region;
                guarded_images<std::uint8_t> part(p.of(region), layout::aligned);
                const bool ran = by.blur(p.of(region), source.batch(), part.batch(), options);
                EXPECT_TRUE(ran || (by.which == algorithm::mma_xy_by_channel && x % 8 != 0));
                if (ran) {
                    EXPECT_EQ(part.download(), part_of(p, of_whole, region)) << "from " << x;
                }
            }
        }
    }
    EXPECT_GT(runs_, 0);
}

class gaussian_blur_of_many_images : public gaussian_blur_on_warpgroups,
                                     public testing::WithParamInterface<border> {};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_many_images, testing::ValuesIn(borders),
                         [](const auto& tested) { return name_of(tested.param); });

/// Each image with a source of its own; rows that are stored as boxes, words and bytes; a last strip of one value, whose
/// mirror lies outside of what its window loads.
TEST_P(gaussian_blur_of_many_images, is_right_on_warpgroups) {
    for (const problem& p : {problem{600, 400, 3, {15, 9}}, problem{1024, 600, 1, 15},
                             problem{341, 400, 3, {5, 12}}, problem{171, 600, 3, {16, 9}}})
        ASSERT_NO_FATAL_FAILURE(check_batch(p.with(GetParam()), many(p), layout::aligned, warpgroups()));
    EXPECT_GT(runs_, 0);
}

}  // namespace
}  // namespace heddle::test
