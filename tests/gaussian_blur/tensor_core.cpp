#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

/// The rungs whose blocks have several tiles or strips, or chains of warps, where images are many.
class gaussian_blur_of_many_images : public gaussian_blur_rung {
  protected:
    static constexpr std::int64_t tile_columns = 256, tile_rows = 16;

    /// Around the edges of tiles; half of them with windows of the smallest kernels, on rows that all kernels take.
    std::pair<problem, image_region> draw_problem(bool is_small) {
        const std::int64_t channels = draw(1, 4);
        const auto around = [&](std::int64_t tile, std::int64_t most) {
            return draw(0, 2) == 0 ? draw(1, tile) : tile * draw(1, most) + draw(-1, 1);
        };
        const std::int64_t width = std::max<std::int64_t>(around(tile_columns, 3) / channels, 1),
                           height = around(tile_rows, 12), x = is_small ? 16 * draw(0, 1) : draw(0, 20);
        const window_radius radius = is_small ? window_radius{draw(0, 8 / channels), draw(0, 8)}
                                              : window_radius{draw(0, 32), draw(0, 16)};
        const auto kind = static_cast<std::size_t>(draw(0, is_small ? 2 : 4));
        const problem p{width + x, height + x, channels, radius, sigma_of(radius), borders[kind]};
        return {p, {x, x / 2, width, height}};
    }
    template <class T>
    void check_drawn() {
        for (int i = 0; i < 12; ++i) {
            SCOPED_TRACE("draw " + std::to_string(i));
            auto [p, region] = draw_problem(i % 2 == 0);
            if (std::is_same_v<T, float>) {  // one channel, and windows of chains
                p.channels = 1;
                p.radius = draw(5, 17);
                p.sigma = sigma_of(p.radius);
            }
            // Each multiprocessor has up to 16 strips.
            const std::int64_t all = 16 * traits_of(current_device()).sm_count * tile_rows * tile_columns,
                               images = all / p.of(region).elements() + 1;
            const auto any = [&] { return layouts[static_cast<std::size_t>(draw(0, 2))]; };
            ASSERT_NO_FATAL_FAILURE(check_region_of_many(p, region, std::min<std::int64_t>(images, 60000),
                                                         i % 4 < 2 ? layout::aligned : any(), on_device<T>(),
                                                         i % 4 < 2 ? layout::aligned : any()));
        }
    }

    drawing draw;
};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_many_images,
                         testing::Values(algorithm::fused, algorithm::mma_xy, algorithm::wgmma_xy,
                                         algorithm::mma_xy_by_channel),
                         parameter_names());

TEST_P(gaussian_blur_of_many_images, is_right) {
    check_drawn<std::uint8_t>();
    if (GetParam() == algorithm::fused) check_drawn<float>();
    expect_runs_of_bytes();
}

/// The last strip of 341 and 171 pixels has one value, whose mirror lies outside of what its window loads.
TEST_P(gaussian_blur_of_many_images, is_right_for_sources_of_their_own) {
    for (const problem& p : {problem{600, 400, 3, {15, 9}}, problem{341, 400, 3, {5, 12}},
                             problem{171, 600, 3, {16, 9}}, problem{1024, 600, 1, {5, 8}}})
        for (const border kind : {border::reflect_101, border::wrap})
            ASSERT_NO_FATAL_FAILURE(check_region_of_many(p.with(kind), {0, 0, p.width, p.height}, 7,
                                                         layout::aligned, on_device<std::uint8_t>(),
                                                         layout::aligned, true));
}

/// mma_xy_by_channel refuses regions of radius 8 that do not begin at a multiple of 8 pixels.
TEST_F(gaussian_blur_test, gives_the_same_pixels_of_regions_by_both_rungs) {
    if (!has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    const std::array both = {on_device<std::uint8_t>(algorithm::wgmma_xy),
                             on_device<std::uint8_t>(algorithm::mma_xy_by_channel)};
    for (const std::int64_t channels : {1, 2, 3, 4}) {
        const problem p{150, 90, channels, 8};
        SCOPED_TRACE(text(p));
        guarded_images<std::uint8_t> source(p, layout::aligned);
        source.upload(random_pixels<std::uint8_t>(p.elements()));
        std::vector<std::uint8_t> of_whole;
        for (const implementation<std::uint8_t>& by : both) {
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

}  // namespace
}  // namespace heddle::test
