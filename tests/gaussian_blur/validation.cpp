#include "tests/gaussian_blur/problem.hpp"
#include "tests/support/hopper.hpp"
#include "tests/support/image_calls.hpp"

namespace heddle::test {
namespace {

TEST(gaussian_blur_problem, is_checked) {
    const auto expect_rejected = [](const std::string& argument, const blur_of_images& p) {
        SCOPED_TRACE(argument);
        EXPECT_EQ(rejected_argument_of([&] { (void)select(p, hopper()); }), argument);
        for (const algorithm which : {algorithm::automatic, algorithm::separable, algorithm::fused})
            EXPECT_EQ(rejected_argument_of([&] { (void)gaussian_blur_workspace_bytes(p, hopper(), which); }),
                      argument);
    };
    expect_rejected("problem.width", {-1, 50, 3, 5});
    expect_rejected("problem.height", {1001, -1, 3, 5});
    for (const std::int64_t channels : {-1, 0, 5})
        expect_rejected("problem.channels", {1001, 50, channels, 5});
    expect_rejected("problem.radius.x", {1001, 50, 3, {-1, 5}});
    expect_rejected("problem.radius.y", {1001, 50, 3, {5, -1}});
    expect_rejected("problem.sigma.x", {1001, 50, 3, 5, {0, 1}});
    expect_rejected("problem.sigma.y", {1001, 50, 3, 5, {1, std::nan("")}});
    expect_rejected("problem.images", {1001, 50, 3, 5, 1, pixel_type::f32, -1});
    EXPECT_EQ(rejected_argument_of([] {
                  (void)gaussian_blur_workspace_bytes(blur_of_images{1001, 50, 3, 5}, hopper(),
                                                      static_cast<algorithm>(99));
              }),
              "options.algorithm");
}

TEST(gaussian_blur_problem, is_one_that_views_have) {
    const auto expect_rejected = [](const std::string& argument, auto change) {
        SCOPED_TRACE(argument);
        gaussian_blur_problem p = blur_of_images{100, 50, 3, 5, 2, pixel_type::u16, 2};
        ASSERT_NO_THROW((void)select(p, hopper()));
        change(p);
        EXPECT_EQ(rejected_argument_of([&] { (void)select(p, hopper()); }), argument);
    };
    expect_rejected("source.element_bytes", [](auto& p) { p.source.element_bytes = 4; });
    expect_rejected("destination.element_bytes", [](auto& p) { p.destination.element_bytes = 1; });
    expect_rejected("source.width", [](auto& p) { p.source.width = 99; });
    expect_rejected("source.height", [](auto& p) { p.source.height = -1; });
    expect_rejected("source.count", [](auto& p) { p.source.count = 1; });
    expect_rejected("source.channels", [](auto& p) { p.source.channels = p.source.col_stride = 1; });
    expect_rejected("source.col_stride", [](auto& p) { p.source.col_stride = 4; });
    expect_rejected("source.row_stride", [](auto& p) { p.source.row_stride = 299; });
    expect_rejected("source.stride", [](auto& p) { p.source.image_stride = -1; });
    expect_rejected("destination.stride", [](auto& p) { p.destination.image_stride = 50 * 300 - 1; });
    expect_rejected("source.offset", [](auto& p) { p.source.offset = 256; });
    expect_rejected("destination.offset", [](auto& p) { p.destination.offset = -2; });
    expect_rejected("problem.region.width", [](auto& p) { p.region = image_region{0, 0, 99, 50}; });
    expect_rejected("problem.region.y", [](auto& p) { p.region = image_region{0, 1, 100, 50}; });
}

TEST(gaussian_blur_problem, is_of_a_call) {
    const image_batch_view<const std::uint16_t> sources{{nullptr, 100, 50, 3, 304}, 2, 16000};
    const image_batch_view<std::uint16_t> destinations{{nullptr, 40, 30, 3, 121}, 2, 4000};
    const gaussian_blur_options options{.border = border::wrap,
                                        .region = image_region{60, 20, 40, 30},
                                        .exact = true,
                                        .scratch = scratch::none};
    const gaussian_blur_problem expected{.source = {2, 50, 100, 3, 3, 304, 16000, 2},
                                         .destination = {2, 30, 40, 3, 3, 121, 4000, 2},
                                         .type = pixel_type::u16,
                                         .radius = {8, 4},
                                         .sigma = {2, 1},
                                         .border = border::wrap,
                                         .region = options.region,
                                         .exact = true,
                                         .has_scratch = false};
    EXPECT_EQ(gaussian_blur_problem_of<std::uint16_t>(sources, destinations, {2, 1}, options), expected);

    const auto of_floats = [](const float* source, float* destination, std::int64_t radius) {
        return gaussian_blur_problem_of<float>(image_view{source, 10, 8}, image_view{destination, 10, 8}, 1.0,
                                               {.radius = radius});
    };
    std::array<float, 4> memory{};
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data() + 1);
    const gaussian_blur_problem p = of_floats(memory.data() + 1, memory.data() + 1, 100);
    EXPECT_EQ(p.source.offset, static_cast<std::int64_t>(address % 256)) << "overlaps are not looked for";
    EXPECT_EQ(p.radius, of_floats(nullptr, nullptr, 15).radius) << "beyond which weights are 0";
}

struct call : image_call {
    blur_sigma sigma = 1.5;
    gaussian_blur_options options{};
};

/// Changes one argument of a valid call; both implementations must name it.
template <class Change>
void expect_rejected(const std::string& argument, Change change) {
    SCOPED_TRACE(argument);
    call c;
    change(c);
    const auto before = c.memory;
    const cuda::stream_ref stream{cudaStream_t{}};
    EXPECT_EQ(rejected_argument_of(
                  [&] { gaussian_blur<float>(c.source, c.destination, c.sigma, stream, c.options); }),
              argument);
    EXPECT_EQ(rejected_argument_of(
                  [&] { host::gaussian_blur<float>(c.source, c.destination, c.sigma, c.options); }),
              argument);
    EXPECT_EQ(c.memory, before);
    if (argument == "destination" || argument.ends_with(".data")) return;  // which a problem does not know
    EXPECT_EQ(rejected_argument_of([&] {
                  (void)gaussian_blur_problem_of<float>(c.source, c.destination, c.sigma, c.options);
              }),
              argument);
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_images) {
    for_each_wrong_image(
        [](const std::string& argument, const auto& change) { expect_rejected(argument, change); });
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_a_region) {
    const auto expect_region_rejected = [](const std::string& argument, const image_region& region) {
        expect_rejected(argument, [&](call& c) {
            c.options.region = region;
            c.destination.width = 4;
            c.destination.height = 3;
        });
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    expect_region_rejected("options.region.x", {-1, 0, 4, 3});
    expect_region_rejected("options.region.x", {7, 0, 4, 3});
    expect_region_rejected("options.region.x", {most, 0, 4, 3});
    expect_region_rejected("options.region.y", {0, -1, 4, 3});
    expect_region_rejected("options.region.y", {0, 6, 4, 3});
    expect_region_rejected("options.region.width", {0, 0, 11, 3});
    expect_region_rejected("options.region.width", {0, 0, -1, 3});
    expect_region_rejected("options.region.width", {0, 0, 5, 3});
    expect_region_rejected("options.region.height", {0, 0, 4, most});
    expect_region_rejected("options.region.height", {0, 0, 4, 2});
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_a_batch) {
    struct batches {
        alignas(16) std::array<float, 4096> memory{};
        image_batch_view<const float> sources{{memory.data(), 10, 8}, 3, 80};
        image_batch_view<float> destinations{{memory.data() + 1024, 10, 8, 1, 12}, 3, 94};
    };
    const auto expect_batch_rejected = [](const std::string& argument, auto change) {
        SCOPED_TRACE(argument);
        batches b;
        change(b);
        const cuda::stream_ref stream{cudaStream_t{}};
        EXPECT_EQ(rejected_argument_of([&] { gaussian_blur<float>(b.sources, b.destinations, 1.0, stream); }),
                  argument);
        EXPECT_EQ(rejected_argument_of([&] { host::gaussian_blur<float>(b.sources, b.destinations, 1.0); }),
                  argument);
    };
    expect_batch_rejected("source.count", [](batches& b) { b.sources.count = 2; });
    expect_batch_rejected("source.count", [](batches& b) { b.sources.count = -1; });
    expect_batch_rejected("source.stride", [](batches& b) { b.sources.stride = -80; });
    expect_batch_rejected(
        "source.stride", [](batches& b) { b.sources.stride = std::numeric_limits<std::int64_t>::max() / 2; });
    expect_batch_rejected("destination.stride", [](batches& b) { b.destinations.stride = 93; });
    expect_batch_rejected("destination.stride", [](batches& b) { b.destinations.stride = 0; });
    expect_batch_rejected("destination.stride", [](batches& b) {  // side by side, the last beyond the row
        b.destinations.first.row_stride = 29;
        b.destinations.stride = 10;
    });
    expect_batch_rejected("destination",
                          [](batches& b) { b.destinations.first.data = b.memory.data() + 239; });
    expect_batch_rejected("destination", [](batches& b) {
        b.destinations.count = b.sources.count = 9;
        b.sources.stride = 119;
    });

    // Planes that take turns row by row share no element, nor do the two halves of each row.
    batches b;
    b.sources = {{b.memory.data(), 10, 8, 1, 60}, 3, 10};
    b.destinations = {{b.memory.data() + 30, 10, 8, 1, 60}, 3, 10};
    EXPECT_NO_THROW(host::gaussian_blur<float>(b.sources, b.destinations, 1.0));
    b.destinations.first.data -= 1;
    EXPECT_EQ(rejected_argument_of([&] { host::gaussian_blur<float>(b.sources, b.destinations, 1.0); }),
              "destination");
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_window) {
    for (const double sigma : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e12}) {
        expect_rejected("sigma.x", [=](call& c) { c.sigma.x = sigma; });
        expect_rejected("sigma.y", [=](call& c) { c.sigma.y = sigma; });
    }
    for (const std::int64_t radius : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()}) {
        expect_rejected("options.radius.x", [=](call& c) { c.options.radius = window_radius{radius, 2}; });
        expect_rejected("options.radius.y", [=](call& c) { c.options.radius = window_radius{2, radius}; });
    }
    expect_rejected("options.border", [](call& c) { c.options.border = static_cast<border>(7); });
}

template <class T>
void expect_border_value(float value, bool is_valid) {
    std::array<T, 64> memory{};
    gaussian_blur_options options{.border = border::constant, .border_value = value};
    const image_view<const T> source{memory.data(), 4, 4};
    const image_view<T> destination{memory.data() + 32, 4, 4};
    const auto run = [&] { host::gaussian_blur<T>(source, destination, 1.0, options); };
    if (is_valid) {
        EXPECT_NO_THROW(run());
        return;
    }
    EXPECT_EQ(rejected_argument_of(run), "options.border_value");
    EXPECT_EQ(rejected_argument_of([&] {
                  gaussian_blur<T>(source, destination, 1.0, cuda::stream_ref{cudaStream_t{}}, options);
              }),
              "options.border_value");
    options.border = border::replicate;  // which has no use for it
    EXPECT_NO_THROW(run());
}

TEST(gaussian_blur_validation, wants_border_values_that_the_type_can_hold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const float value : {-1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN(), infinity}) {
        expect_border_value<std::uint8_t>(value, false);
        expect_border_value<std::uint16_t>(value, false);
        expect_border_value<half>(value, true);
        expect_border_value<float>(value, true);
    }
    expect_border_value<std::uint8_t>(255, true);
    expect_border_value<std::uint8_t>(256, false);
    expect_border_value<std::uint16_t>(65535, true);
    expect_border_value<std::uint16_t>(65536, false);
    expect_border_value<half>(-65504, true);
    expect_border_value<half>(65536, false);
    expect_border_value<float>(1e30f, true);
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_device_options) {
    const cuda::stream_ref stream{cudaStream_t{}};
    call c;
    const auto before = c.memory;
    const auto argument = [&](const call& made) {
        std::string rejected = rejected_argument_of(
            [&] { gaussian_blur<float>(made.source, made.destination, made.sigma, stream, made.options); });
        EXPECT_EQ(made.memory, before);
        return rejected;
    };
    c.options.algorithm = static_cast<algorithm>(99);
    EXPECT_EQ(argument(c), "options.algorithm");

    c.options.algorithm = algorithm::separable;
    c.options.kernel = "fused tiles";
    EXPECT_EQ(argument(c), "options.kernel") << "of another rung";
    c.options.kernel = {};
    alignas(16) std::array<std::byte, 4096> scratch;
    c.options.workspace = std::span(scratch).subspan(1);
    EXPECT_EQ(argument(c), "options.workspace") << "misaligned";
    c.options.workspace = std::as_writable_bytes(std::span(c.memory)).first(4096);
    EXPECT_EQ(argument(c), "options.workspace") << "overlaps the source";
}

TEST(gaussian_blur_validation, says_which_kernels_there_are) {
    const auto text_of = [](algorithm which, std::string_view kernel) {
        const call c;
        return invalid_argument_of([&] {
            gaussian_blur<float>(c.source, c.destination, c.sigma, cuda::stream_ref{cudaStream_t{}},
                                 {.algorithm = which, .kernel = kernel});
        });
    };
    for (const std::string kernel : {"ring", "fused rings"})
        EXPECT_EQ(text_of(algorithm::fused, kernel), "gaussian_blur: options.kernel is " + kernel +
                                                         ", expected one of fused ring, fused strips, fused "
                                                         "chains, fused tiles");
    EXPECT_EQ(text_of(algorithm::separable, "fused ring"),
              "gaussian_blur: options.kernel is fused ring, expected one of separable");
    EXPECT_EQ(text_of(algorithm::automatic, "ring"),
              "gaussian_blur: options.kernel is ring, expected one of " + joined(gaussian_blur_kernels()));
}

TEST(gaussian_blur_validation, accepts_empty_images) {
    const cuda::stream_ref stream{cudaStream_t{}};
    for (const auto& [width, height] : {std::pair{0, 0}, std::pair{0, 5}, std::pair{5, 0}}) {
        const image_view<const float> source{nullptr, width, height};
        const image_view<float> destination{nullptr, width, height};
        // An empty workspace has no address to be misaligned.
        alignas(16) std::array<std::byte, 16> odd;
        const std::span<std::byte> nothing = std::span(odd).subspan(1, 0);
        for (const algorithm which : gaussian_blur_algorithms())
            for (const std::span<std::byte> scratch : {std::span<std::byte>(), nothing})
                EXPECT_NO_THROW(gaussian_blur<float>(source, destination, 1.0, stream,
                                                     {.algorithm = which, .workspace = scratch}));
        EXPECT_NO_THROW(host::gaussian_blur<float>(source, destination, 1.0));
    }
    const image_batch_view<float> none{{nullptr, 5, 5}, 0, 25};
    for (const algorithm which : gaussian_blur_algorithms())
        EXPECT_NO_THROW(gaussian_blur<float>(none, none, 1.0, stream, {.algorithm = which}));
    EXPECT_NO_THROW(host::gaussian_blur<float>(none, none, 1.0));
}

}  // namespace
}  // namespace heddle::test
