#include "tests/image_filter/filters.hpp"

namespace heddle::test {
namespace {

class image_filter_rung : public image_filter, public testing::WithParamInterface<algorithm> {};
INSTANTIATE_TEST_SUITE_P(all, image_filter_rung, testing::ValuesIn(with_automatic(image_filter_algorithms())),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST_P(image_filter_rung, can_be_captured_and_replayed) {
    const image_size size{200, 50, 1};
    guarded_images<std::uint8_t> source(size, layout::tight);
    guarded_images<float> destination(size, layout::tight), captured_one(size, layout::tight);
    const auto filter_to = [&](guarded_images<float>& to) {
        sobel<std::uint8_t>(source.view(), to.view(), gradient::x, *stream, {.algorithm = GetParam()});
    };
    const graph captured = graph::capture(*stream, [&] { filter_to(captured_one); });
    for (int replay = 0; replay < 2; ++replay) {
        source.upload(random_pixels<std::uint8_t>(size.elements()));
        captured.launch(*stream);
        filter_to(destination);
        stream->synchronize();
        EXPECT_EQ(captured_one.download(), destination.download());
    }
}

/// Narrow rows share a warp: up to ten of them, each a lane with its neighbours. Heights end in a warp and behind it.
TEST_P(image_filter_rung, takes_rows_of_any_width_that_share_a_warp) {
    for (const std::int64_t channels : {1, 3, 4})
        for (const std::int64_t values :
             {1, 4, 5, 8, 9, 12, 16, 17, 24, 25, 32, 33, 56, 57, 112, 113, 120, 121, 130, 241})
            for (const std::int64_t height : {1, 2, 9, 21, 40}) {
                const image_size size{(values + channels - 1) / channels, height, channels};
                SCOPED_TRACE(testing::Message() << size.width << " x " << height << " x " << channels);
                const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(size.elements());
                const border kind = borders[static_cast<std::size_t>(values + height) % borders.size()];
                guarded_images<std::uint8_t> source(size, values % 2 ? layout::tight : layout::aligned);
                guarded_images<float> destination(size, values % 2 ? layout::tight : layout::aligned);
                source.upload(elements);
                image_filter_options options{
                    .border = kind, .border_value = border_value, .algorithm = GetParam()};
                sobel<std::uint8_t>(source.view(), destination.view(), gradient::x, *stream, options);
                stream->synchronize();
                std::vector<float> expected(elements.size());
                options.algorithm = algorithm::automatic;
                host::sobel<std::uint8_t>(
                    {elements.data(), size.width, size.height, size.channels},
                    image_view<float>{expected.data(), size.width, size.height, size.channels}, gradient::x,
                    options);
                ASSERT_EQ(destination.download(), expected);  // whole numbers
                ASSERT_TRUE(destination.canaries_alive());
            }
}

/// On warpgroups, if the device has them. A mean of bytes is rounded correctly, except for the largest window.
TEST_F(image_filter, takes_means_of_many_images_of_bytes) {
    constexpr std::int64_t images = 6;
    const image_size size{600, 400, 3};
    for (const window_radius radius : {window_radius{5}, {11}, {7, 3}, {15}, {3, 16}}) {
        SCOPED_TRACE("radius " + std::to_string(radius.x));
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(size.elements());
        guarded_images<std::uint8_t> source(size, layout::aligned),
            destination(size, layout::aligned, memory::device, images);
        source.upload(elements);
        box_blur<std::uint8_t>({source.view(), images, 0}, destination.batch(), radius, *stream);
        stream->synchronize();
        std::vector<std::uint8_t> expected(elements.size());
        host::box_blur<std::uint8_t>(
            {elements.data(), size.width, size.height, size.channels},
            image_view<std::uint8_t>{expected.data(), size.width, size.height, size.channels}, radius);
        const std::vector<std::uint8_t> means = destination.download();
        for (std::size_t i = 0; i < means.size(); ++i)
            ASSERT_LE(std::abs(means[i] - expected[i % expected.size()]), radius.y == 15 ? 1 : 0) << i;
        EXPECT_TRUE(destination.canaries_alive());
    }
}

TEST_F(image_filter, captures_a_convolution_whose_taps_go_away) {
    const image_size size{200, 50, 1};
    guarded_images<float> source(size, layout::tight), destination(size, layout::tight),
        captured_one(size, layout::tight);
    source.upload(random_pixels<float>(size.elements()));
    std::vector<float> gone = {1, -2, 5};
    const auto convolve_to = [&](guarded_images<float>& to) {
        separable_convolution(source.view(), to.view(), gone, gone, *stream);
    };
    convolve_to(destination);
    const graph captured = graph::capture(*stream, [&] { convolve_to(captured_one); });
    gone.assign(gone.size(), 1e9f);
    captured.launch(*stream);
    stream->synchronize();
    EXPECT_EQ(captured_one.download(), destination.download());
}

TEST_F(image_filter, stays_inside_the_given_workspace) {
    const image_size size{31, 17, 3}, part{20, 10, 3};
    const window_radius radius{700, 300};
    const std::int64_t bytes = image_filter_workspace_bytes(
        {.width = part.width, .height = part.height, .channels = 3, .radius = radius},
        traits_of(current_device()));
    ASSERT_GT(bytes, 0);
    guarded<std::uint8_t> scratch(bytes);
    scratch.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0));
    guarded_images<float> source(size, layout::tight), destination(part, layout::tight),
        from_pool(part, layout::tight), untouched(part, layout::tight);
    source.upload(random_pixels<float>(size.elements()));
    image_filter_options options{.region = image_region{5, 3, part.width, part.height}};
    box_blur<float>(source.view(), from_pool.view(), radius, *stream, options);
    options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
    box_blur<float>(source.view(), destination.view(), radius, *stream, options);
    stream->synchronize();
    EXPECT_EQ(destination.download(), from_pool.download());
    EXPECT_TRUE(scratch.canaries_alive());

    options.workspace = options.workspace.first(64);
    EXPECT_EQ(rejected_argument_of(
                  [&] { box_blur<float>(source.view(), untouched.view(), radius, *stream, options); }),
              "options.workspace");
    EXPECT_TRUE(untouched.untouched());
}

}  // namespace
}  // namespace heddle::test
