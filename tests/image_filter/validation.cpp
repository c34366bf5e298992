#include "tests/support/blurs.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/hopper.hpp"
#include "tests/support/image_calls.hpp"
#include "tests/support/images.hpp"

namespace heddle::test {
namespace {

using algorithm = image_filter_algorithm;

TEST(image_filter_workspace, holds_the_image_between_two_passes) {
    EXPECT_GE(image_filter_workspace_bytes({.width = 1000, .height = 50, .radius = 2}, hopper()),
              1000 * (50 + 2 * 2) * 4);
    EXPECT_GE(
        image_filter_workspace_bytes({.width = 1000, .height = 50, .radius = 900, .images = 2}, hopper()),
        2 * 1000 * 50 * 4);
    EXPECT_EQ(image_filter_workspace_bytes({.width = 0, .height = 50, .radius = 900}, hopper()), 0);
    using enum gaussian_blur_algorithm;
    for (const std::int64_t width : {1, 5, 1921})
        for (const std::int64_t channels : {1, 2, 3, 4})
            for (const gaussian_blur_algorithm rung : {separable, shared_memory})
                EXPECT_GE(
                    image_filter_workspace_bytes(
                        {.width = width, .height = 50, .channels = channels, .radius = 30}, hopper()),
                    gaussian_blur_workspace_bytes(
                        blur_of_images{.width = width, .height = 50, .channels = channels, .radius = 30},
                        hopper(), rung))
                    << width << ' ' << channels << ' ' << to_string(rung);
    const auto rejected = [](const image_filter_problem& p) {
        return rejected_argument_of([&] { (void)image_filter_workspace_bytes(p, hopper()); });
    };
    EXPECT_EQ(rejected({.width = -1}), "problem.width");
    EXPECT_EQ(rejected({.height = -1}), "problem.height");
    EXPECT_EQ(rejected({.channels = 5}), "problem.channels");
    EXPECT_EQ(rejected({.radius = -1}), "problem.radius.x");
    EXPECT_EQ(rejected({.images = -1}), "problem.images");
}

struct call : image_call {
    std::vector<float> taps_x = {1, 2, 3};
    std::vector<float> taps_y = {1, 2, 3};
    window_radius radius = 1;
    heddle::gradient gradient = gradient::x;
    image_filter_options options{};
};

enum class filter { convolution, box, sobel, laplacian };
constexpr std::array filters = {filter::convolution, filter::box, filter::sobel, filter::laplacian};

void run(const call& c, filter which, bool on_host) {
    const cuda::stream_ref stream{cudaStream_t{}};
    switch (which) {
        case filter::convolution:
            return on_host
                       ? host::separable_convolution(c.source, c.destination, c.taps_x, c.taps_y, c.options)
                       : separable_convolution(c.source, c.destination, c.taps_x, c.taps_y, stream,
                                               c.options);
        case filter::box:
            return on_host ? host::box_blur<float>(c.source, c.destination, c.radius, c.options)
                           : box_blur<float>(c.source, c.destination, c.radius, stream, c.options);
        case filter::sobel:
            return on_host ? host::sobel<float>(c.source, c.destination, c.gradient, c.options)
                           : sobel<float>(c.source, c.destination, c.gradient, stream, c.options);
        case filter::laplacian:
            return on_host ? host::laplacian<float>(c.source, c.destination, c.options)
                           : laplacian<float>(c.source, c.destination, stream, c.options);
    }
}

/// Changes one argument of a valid call; both implementations must name it.
template <class Change>
void expect_rejected(filter which, const std::string& argument, Change change) {
    SCOPED_TRACE(argument);
    call c;
    change(c);
    const auto before = c.memory;
    for (const bool on_host : {false, true})
        EXPECT_EQ(rejected_argument_of([&] { run(c, which, on_host); }), argument);
    EXPECT_EQ(c.memory, before);
}

TEST(image_filter_validation, names_what_is_wrong_with_the_images) {
    for (const filter which : filters) {
        SCOPED_TRACE(static_cast<int>(which));
        const auto rejected = [which](const std::string& argument, auto change) {
            expect_rejected(which, argument, change);
        };
        for_each_wrong_image(rejected);
        rejected("options.region.width", [](call& c) { c.options.region = {0, 0, 9, 8}; });
        rejected("options.region.x", [](call& c) { c.options.region = {1, 0, 10, 8}; });
        rejected("options.region.y", [](call& c) { c.options.region = {0, -1, 10, 8}; });
        rejected("options.border", [](call& c) { c.options.border = static_cast<border>(7); });
    }
}

TEST(image_filter_validation, names_what_is_wrong_with_the_window) {
    expect_rejected(filter::convolution, "taps_x.size", [](call& c) { c.taps_x = {1, 2}; });
    expect_rejected(filter::convolution, "taps_y.size", [](call& c) { c.taps_y = {}; });
    expect_rejected(filter::convolution, "taps_x.size", [](call& c) { c.taps_x.resize(2003); });
    expect_rejected(filter::box, "radius.x", [](call& c) { c.radius = -1; });
    expect_rejected(filter::box, "radius.y", [](call& c) { c.radius = {1, std::int64_t{1} << 40}; });
    expect_rejected(filter::sobel, "gradient", [](call& c) { c.gradient = static_cast<gradient>(3); });
}

TEST(image_filter_validation, names_what_is_wrong_with_the_device_options) {
    for (const filter which : filters) {
        call c;
        c.options.algorithm = static_cast<algorithm>(99);
        EXPECT_EQ(rejected_argument_of([&] { run(c, which, false); }), "options.algorithm");
        c.options = {};
        c.options.workspace = std::as_writable_bytes(std::span(c.memory)).first(64);
        EXPECT_EQ(rejected_argument_of([&] { run(c, which, false); }), "options.workspace");
    }
}

TEST(image_filter_validation, wants_border_values_that_the_source_can_hold) {
    std::array<std::uint8_t, 16> pixels{};
    std::array<float, 16> out{};
    for (const float value : {-1.0f, 256.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
        const image_filter_options options{.border = border::constant, .border_value = value};
        EXPECT_EQ(rejected_argument_of([&] {
                      host::laplacian<std::uint8_t>(image_view<const std::uint8_t>{pixels.data(), 4, 4},
                                                    image_view{out.data(), 4, 4}, options);
                  }),
                  "options.border_value");
    }
}

TEST(image_filter_validation, accepts_empty_images_and_batches) {
    for (const filter which : filters)
        for (const bool on_host : {false, true})
            for (const auto& [width, height] : {std::pair{0, 0}, std::pair{0, 5}, std::pair{5, 0}}) {
                call c;
                c.source = {nullptr, width, height};
                c.destination = {nullptr, width, height};
                EXPECT_NO_THROW(run(c, which, on_host));
            }
    EXPECT_NO_THROW(sobel<float>(image_batch_view<const float>{{nullptr, 5, 5}, 0, 25},
                                 image_batch_view<float>{{nullptr, 5, 5}, 0, 25}, gradient::x,
                                 cuda::stream_ref{cudaStream_t{}}));
}

}  // namespace
}  // namespace heddle::test
