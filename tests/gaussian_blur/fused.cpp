#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

/// fused filters one channel of float with chains of warps from radius 6 to 16, which lend rows to each other; up to 12 of
/// them where images are many or large. Around the edges of their strips, of 128 columns; parts of a large image; and rows that
/// start and end within a packet of 16 bytes, at the source's left edge and inside of it.
TEST_F(gaussian_blur_test, fused_is_right_for_chains_of_warps) {
    const implementation<float> fused = on_device<float>(algorithm::fused);
    constexpr std::int64_t strip_columns = 128, max_warps = 12;
    constexpr std::array<std::int64_t, 8> widths = {1, 5, 127, 128, 129, 131, 257, 400};
    std::size_t turn = 0;
    for (std::int64_t radius = 5; radius <= 17; ++radius)
        for (const border kind : borders) {
            const std::int64_t warps = 1 + static_cast<std::int64_t>(turn) * 5 % max_warps;
            const std::int64_t width = widths[turn % widths.size()];
            const std::int64_t height = warps * 2 * radius + static_cast<std::int64_t>(turn) * 7 % 40;
            const auto offset = static_cast<std::int64_t>(turn % 3 * 4);
            const problem p{width + offset, height + offset, 1, radius, sigma_of(radius), kind};
            const std::int64_t strips = (width + strip_columns - 1) / strip_columns;
            const std::int64_t warps_of_image = strips * (height / (2 * radius));
            const std::int64_t images = warps * traits_of(current_device()).sm_count / warps_of_image + 1;
            ASSERT_NO_FATAL_FAILURE(
                check_region_of_many(p, {offset, offset / 2, width, height}, images, layout::aligned, fused));
            ++turn;
        }
    for (const std::int64_t radius : {6, 11})
        ASSERT_NO_FATAL_FAILURE(
            check_regions({701, 1900, 1, radius, sigma_of(radius), border::reflect}, layout::aligned, fused));
    for (const border kind : borders) {
        const problem p{203, 90, 1, 8, sigma_of(8), kind};
        SCOPED_TRACE(text(p));
        const std::vector<float> elements = random_pixels<float>(p.elements());
        const std::int64_t stride = stride_of(layout::aligned, p.width);
        guarded<float> source(p.height, p.width, stride, 1);  // so that column 3 is aligned
        source.upload(elements);
        gaussian_blur_options options = options_of(p);
        const image_region region{3, 5, 190, 80};
        options.region = region;
        guarded_images<float> destination(p.of(region), layout::aligned);
        const image_view<const float> view{source.data(), p.width, p.height, 1, stride};
        ASSERT_TRUE(fused.blur(p.of(region), image_batch_view{view}, destination.batch(), options));
        ASSERT_NO_FATAL_FAILURE(
            expect_close(p, destination.download(), reference(p, elements).of(p, region), fused.which));
        EXPECT_TRUE(destination.canaries_alive());
    }
}

}  // namespace
}  // namespace heddle::test
