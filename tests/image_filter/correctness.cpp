#include "tests/image_filter/filters.hpp"
#include <heddle/graph.hpp>

#include <cstring>

namespace heddle::test {
namespace {

std::string algorithm_name(const testing::TestParamInfo<algorithm>& info) {
    return std::string(to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(all, image_filter_rung,
                         testing::ValuesIn(image_filter_algorithms().begin(),
                                           image_filter_algorithms().end()),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(chosen, image_filter_rung, testing::Values(algorithm::automatic), algorithm_name);

TEST_P(image_filter_rung, takes_stencils_of_every_shape_f32) {
    check_everything<float>();
}
TEST_P(image_filter_rung, takes_stencils_of_every_shape_f16) {
    check_everything<half>();
}
TEST_P(image_filter_rung, takes_stencils_of_every_shape_u16) {
    check_everything<std::uint16_t>();
}
TEST_P(image_filter_rung, takes_stencils_of_every_shape_u8) {
    check_everything<std::uint8_t>();
}

TEST_P(image_filter_rung, can_be_captured_and_replayed) {
    const problem p{.size = {200, 50, 1}};
    guarded_images<std::uint8_t> source = p.source<std::uint8_t>();
    guarded_images<float> destination = p.destination<float>();
    const graph captured = graph::capture(*stream_, [&] {
        sobel<std::uint8_t>(source.view(), destination.view(), gradient::x, *stream_,
                            options_of(p, GetParam()));
    });
    for (int replay = 0; replay < 2; ++replay) {
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(p.elements());
        source.upload(elements);
        captured.launch(*stream_);
        stream_->synchronize();
        ASSERT_NO_FATAL_FAILURE(
            expect_close(destination.download(), gradient_in_double(p, elements, gradient::x)));
    }
}

TEST_F(image_filter, takes_means_of_every_shape_f32) {
    check_boxes_everywhere<float>(device());
}
TEST_F(image_filter, takes_means_of_every_shape_f16) {
    check_boxes_everywhere<half>(device());
}
TEST_F(image_filter, takes_means_of_every_shape_u16) {
    check_boxes_everywhere<std::uint16_t>(device());
}
TEST_F(image_filter, takes_means_of_every_shape_u8) {
    check_boxes_everywhere<std::uint8_t>(device());
}

/// On warpgroups, where there are some: every image of a batch with one source.
TEST_F(image_filter, takes_means_of_many_images_of_bytes) {
    constexpr std::int64_t images = 6;
    for (const window_radius radius : {window_radius{5}, {11}, {7, 3}, {15}, {3, 16}}) {
        const problem p{.size = {600, 400, 3}, .how = layout::aligned};
        problem all = p;
        all.images = images;
        SCOPED_TRACE(text(p) + " radius " + std::to_string(radius.x));
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(p.elements());
        guarded_images<std::uint8_t> source = p.source<std::uint8_t>();
        guarded_images<std::uint8_t> destination = all.destination<std::uint8_t>();
        source.upload(elements);
        box_blur<std::uint8_t>({source.view(), images, 0}, destination.batch(), radius, *stream_,
                               options_of(p));
        stream_->synchronize();
        std::vector<std::uint8_t> means = destination.download();
        const auto size = static_cast<std::size_t>(p.elements());
        for (std::size_t i = size; i < means.size(); i += size)
            ASSERT_EQ(std::memcmp(&means[i], means.data(), size), 0) << "image " << i / size;
        means.resize(size);
        ASSERT_NO_FATAL_FAILURE(expect_close(means, mean_in_double(p, elements, radius)));
    }
}

TEST_F(image_filter, takes_taps_of_every_shape) {
    check_convolutions_everywhere(device());
}
TEST_F(image_filter, turns_no_window_round) {
    check_that_no_window_is_turned_round(device());
}

TEST_F(image_filter, serves_many_destinations_from_one_source) {
    const problem one{.size = {61, 17, 3}};
    problem three = one;
    three.images = 3;
    const std::vector<float> elements = random_pixels<float>(one.elements());
    guarded_images<float> source = one.source<float>(), destination = three.destination<float>();
    source.upload(elements);
    sobel<float>({source.view(), 3, 0}, destination.batch(), gradient::y, *stream_);
    stream_->synchronize();
    const std::vector<float> all = destination.download();
    const expectation expected = gradient_in_double(one, elements, gradient::y);
    for (auto begin = all.begin(); begin != all.end(); begin += std::ssize(expected.values))
        expect_close(std::vector<float>(begin, begin + std::ssize(expected.values)), expected);
}

TEST_F(image_filter, captures_a_convolution_whose_taps_go_away) {
    const problem p{.size = {200, 50, 1}};
    guarded_images<float> source = p.source<float>(), destination = p.destination<float>();
    const std::vector<double> taps = {1, -2, 5};
    std::optional<graph> captured;
    {
        std::vector<float> gone(taps.begin(), taps.end());
        captured = graph::capture(*stream_, [&] {
            separable_convolution(source.view(), destination.view(), gone, gone, *stream_);
        });
        std::ranges::fill(gone, 1e9f);
    }
    const std::vector<float> elements = random_pixels<float>(p.elements());
    source.upload(elements);
    captured->launch(*stream_);
    stream_->synchronize();
    expect_close(destination.download(), convolution_in_double(p, elements, taps, taps, 0));
}

TEST_F(image_filter, stays_inside_the_given_workspace) {
    const problem p{.size = {31, 17, 3}, .region = image_region{5, 3, 20, 10}};
    const window_radius radius{700, 300};
    const std::vector<float> elements = random_pixels<float>(p.elements());
    const std::int64_t bytes = image_filter_workspace_bytes(
        {.width = 20, .height = 10, .channels = 3, .radius = radius}, traits_of(current_device()));
    ASSERT_GT(bytes, 0);
    guarded<std::uint8_t> scratch(bytes);
    scratch.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0));
    guarded_images<float> source = p.source<float>(), destination = p.destination<float>();
    source.upload(elements);
    image_filter_options options = options_of(p);
    options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
    box_blur<float>(source.view(), destination.view(), radius, *stream_, options);
    stream_->synchronize();
    expect_close(destination.download(), mean_in_double(p, elements, radius));
    EXPECT_TRUE(scratch.canaries_alive());

    guarded_images<float> untouched = p.destination<float>();
    options.workspace = options.workspace.first(64);
    EXPECT_EQ(rejected_argument_of(
                  [&] { box_blur<float>(source.view(), untouched.view(), radius, *stream_, options); }),
              "options.workspace");
    EXPECT_TRUE(untouched.untouched());
}

}  // namespace
}  // namespace heddle::test
