#include "tests/gaussian_blur/problem.hpp"
#include "tests/support/hopper.hpp"

namespace heddle::test {
namespace {

TEST(gaussian_radius, is_four_sigma_rounded_up) {
    EXPECT_EQ(gaussian_radius(1.0), 4);
    EXPECT_EQ(gaussian_radius(1.1), 5);
    EXPECT_EQ(gaussian_radius(1e-300), 1);
    for (const double sigma : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e9})
        EXPECT_EQ(rejected_argument_of([&] { (void)gaussian_radius(sigma); }), "sigma");
}

/// A problem for the rungs that any device has and that have every type.
blur_of_images exact_problem(std::int64_t width, std::int64_t height, std::int64_t channels,
                             const window_radius& radius) {
    return {width, height, channels, radius, sigma_of(radius), pixel_type::f32, 1, true};
}

TEST(gaussian_blur_select, goes_down_the_ladder_as_windows_grow) {
    for (const std::int64_t channels : {1, 2, 3, 4}) {
        const auto at = [&](const window_radius& radius) {
            return select(exact_problem(4096, 4096, channels, radius), hopper());
        };
        EXPECT_EQ(at(0), algorithm::fused);
        EXPECT_EQ(at(2), algorithm::fused);
        EXPECT_EQ(at(30), algorithm::fused);
        EXPECT_EQ(at(300), algorithm::shared_memory);
        EXPECT_EQ(at(1001), algorithm::separable);
        EXPECT_EQ(at(1000000), algorithm::separable);
    }
}

TEST(gaussian_blur_select, weighs_what_a_march_filters_to_start_against_two_passes) {
    for (const pixel_type type : {pixel_type::f32, pixel_type::f16, pixel_type::u16}) {
        const auto at = [&](std::int64_t width, std::int64_t height, std::int64_t channels,
                            std::int64_t radius) {
            blur_of_images p = exact_problem(width, height, channels, radius);
            p.type = type;
            return select(p, hopper());
        };
        for (const std::int64_t radius : {1, 4}) EXPECT_NE(at(640, 480, 1, radius), algorithm::shared_memory);
        for (const std::int64_t radius : {20, 40}) {
            EXPECT_EQ(at(640, 480, 1, radius), algorithm::shared_memory)
                << "few blocks, of more rows to start";
            EXPECT_EQ(at(4096, 4096, 1, radius), algorithm::fused);
        }
        EXPECT_EQ(at(1920, 1080, 1, 40), algorithm::shared_memory);
        for (const std::int64_t channels : {1, 3, 4})
            EXPECT_EQ(at(4096, 4096, channels, 8), algorithm::fused);
        EXPECT_EQ(at(4096, 4096, 4, 16), algorithm::fused);
    }
}

TEST(gaussian_blur_select, does_not_wait_for_each_tap_of_a_large_window) {
    for (const std::int64_t side : {1, 5, 16})
        for (const std::int64_t radius : {30, 111, 200})
            EXPECT_NE(select(exact_problem(side, side, 4, radius), hopper()), algorithm::naive) << radius;
}

TEST(gaussian_blur_select, is_pure_and_takes_what_remains_the_cheapest) {
    drawing draw;
    for (int i = 0; i < 1000; ++i) {
        const auto extent = [&] { return draw(1, std::int64_t{1} << draw(0, 13)); };
        blur_of_images p = exact_problem(extent(), extent(), draw(1, 4), {draw(0, 80), draw(0, 80)});
        if (draw(0, 1) == 0) p.radius.y = p.radius.x;
        p.sigma = sigma_of(p.radius);
        p.type = pixel_types[static_cast<std::size_t>(draw(0, std::ssize(pixel_types) - 1))];
        p.images = extent() / 64 + 1;
        p.begin = static_cast<rows_at>(draw(0, 2));
        const algorithm first = select(p, hopper());
        EXPECT_EQ(select(p, hopper()), first);
        EXPECT_EQ(why_not(first, p, hopper()), "");

        SCOPED_TRACE(testing::Message() << p.width << 'x' << p.height << " of " << p.channels
                                        << " channels, radii " << p.radius.x << " and " << p.radius.y);
        const bool takes_scratch = gaussian_blur_workspace_bytes(p, hopper(), first) > 0;
        p.has_scratch = false;
        const algorithm without = select(p, hopper());
        EXPECT_EQ(why_not(without, p, hopper()), "");
        EXPECT_TRUE(without == first || takes_scratch) << to_string(first) << ", " << to_string(without);
    }
}

class gaussian_blur_select_of_bytes : public testing::Test {
  protected:
    void SetUp() override {
        if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    }
    static bool is_on_tensor_cores(algorithm of) {
        return of == algorithm::mma_xy || of == algorithm::wgmma_xy || of == algorithm::mma_xy_by_channel;
    }
    static blur_of_images square(std::int64_t side, const window_radius& radius) {
        blur_of_images p = exact_problem(side, side, 1, radius);
        p.type = pixel_type::u8;
        return p;
    }
};

TEST_F(gaussian_blur_select_of_bytes, takes_rows_at_any_address_to_the_tensor_cores) {
    for (const rows_at begin : {rows_at::source_words, rows_at::single_elements}) {
        blur_of_images p = square(4096, 5);
        p.begin = begin;
        EXPECT_EQ(select(p, hopper()), algorithm::mma_xy_by_channel);
        for (const window_radius radius : {window_radius{1}, {2}, {3}, {2, 3}}) {
            p.radius = radius;
            EXPECT_EQ(select(p, hopper()), algorithm::mma_xy_by_channel);
        }
        p.border = border::wrap;
        for (const window_radius radius : {window_radius{9}, {20}}) {
            p.radius = radius;
            EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
        }
        p.border = border::replicate;
        p.radius = 15;
        EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
        p.images = 0;
        EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
        p.type = pixel_type::u16;
        EXPECT_FALSE(is_on_tensor_cores(select(p, hopper())));
    }
}

TEST_F(gaussian_blur_select_of_bytes, leaves_the_smallest_windows_to_fused) {
    for (const window_radius radius : {window_radius{1}, {2}})
        for (const border kind : {border::replicate, border::wrap, border::constant}) {
            blur_of_images p = square(4096, radius);
            p.border = kind;
            EXPECT_EQ(select(p, hopper()), algorithm::fused);
        }
}

TEST_F(gaussian_blur_select_of_bytes, takes_large_images_of_wider_windows_to_warpgroups) {
    blur_of_images p = square(4096, 15);
    EXPECT_EQ(select(p, hopper()), algorithm::wgmma_xy);
    p.radius = 16;
    EXPECT_EQ(select(p, hopper()), algorithm::wgmma_xy);
    p.border = border::wrap;
    EXPECT_EQ(select(p, hopper()), algorithm::wgmma_xy);
    p.radius = {16, 17};
    EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
    p.radius = {33, 16};
    EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
    p.radius = 16;
    p.sigma = 0.5;  // one weight of 0.79
    EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
    EXPECT_NE(select(square(512, 15), hopper()), algorithm::wgmma_xy) << "few tiles";
    EXPECT_EQ(select(square(4096, {8, 5}), hopper()), algorithm::mma_xy_by_channel);
    EXPECT_EQ(select(square(1024, {9, 6}), hopper()), algorithm::mma_xy) << "few tiles";
}

TEST_F(gaussian_blur_select_of_bytes, takes_tall_small_windows_by_channel) {
    for (const window_radius radius : {window_radius{5}, {8}, {8, 6}})
        EXPECT_EQ(select(square(4096, radius), hopper()), algorithm::mma_xy_by_channel);
    for (const window_radius radius : {window_radius{3}, {8, 3}})
        EXPECT_EQ(select(square(4096, radius), hopper()), algorithm::mma_xy_by_channel);
    blur_of_images p = square(4096, 3);
    p.channels = 4;
    EXPECT_EQ(select(p, hopper()), algorithm::mma_xy_by_channel);
    p = square(4096, 5);
    p.sigma = 0.5;
    EXPECT_NE(select(p, hopper()), algorithm::mma_xy_by_channel) << "one weight of 0.79";
    for (const window_radius radius : {window_radius{4}, {8, 4}}) {
        EXPECT_TRUE(is_on_tensor_cores(select(square(2048, radius), hopper())));
        EXPECT_EQ(select(square(1, radius), hopper()), algorithm::tiled) << "one block's work";
    }
    p = square(2048, 8);
    p.border = border::wrap;
    EXPECT_EQ(select(p, hopper()), algorithm::mma_xy);
}

TEST_F(gaussian_blur_select_of_bytes, ends_warpgroups_where_windows_grow_too_wide) {
    for (const window_radius radius : {window_radius{9, 3}, {9, 4}, {8, 9}})
        EXPECT_EQ(select(square(1024, radius), hopper()), algorithm::mma_xy) << "few tiles";
    const auto of_many_tiles = [](const window_radius& radius) {
        blur_of_images p = square(4096, radius);
        p.channels = 4;
        return select(p, hopper());
    };
    EXPECT_EQ(of_many_tiles({30, 16}), algorithm::wgmma_xy);
    EXPECT_EQ(of_many_tiles({31, 16}), algorithm::mma_xy);
}

TEST(gaussian_blur_select, takes_decimated_where_sigma_is_large) {
    blur_of_images p = exact_problem(4096, 4096, 1, 48);
    p.sigma = 12;
    p.exact = false;
    EXPECT_EQ(select(p, hopper()), algorithm::decimated);
    p.sigma = {12, 11.9};
    EXPECT_NE(select(p, hopper()), algorithm::decimated);
    p.sigma = 12;
    p.radius = {48, 47};  // a window that is cut short
    EXPECT_NE(select(p, hopper()), algorithm::decimated);
}

TEST(gaussian_blur_select, keeps_decimated_from_those_who_want_a_gaussian) {
    blur_of_images p = exact_problem(4096, 4096, 1, 160);
    p.sigma = 40;
    for (const pixel_type type : pixel_types) {
        p.type = type;
        EXPECT_NE(select(p, hopper()), algorithm::decimated);
    }
}

TEST(gaussian_blur_select, leaves_the_longest_rows_to_separable) {
    EXPECT_EQ(select(exact_problem(std::int64_t{1} << 31, 1, 1, 2), hopper()), algorithm::separable);
    EXPECT_EQ(select(exact_problem(std::int64_t{1} << 29, 1, 4, 40), hopper()), algorithm::separable);
}

TEST(gaussian_blur_select, stays_within_a_smaller_device) {
    device_traits small = hopper();
    small.shared_memory_per_sm = 64 * 1024;
    small.shared_memory_per_block_optin = 48 * 1024;
    EXPECT_EQ(select(exact_problem(4096, 4096, 1, 2), small), algorithm::fused);
    EXPECT_EQ(select(exact_problem(4096, 4096, 1, 40), small), algorithm::shared_memory);
    EXPECT_EQ(select(exact_problem(4096, 4096, 4, 1000), small), algorithm::separable);
}

TEST(gaussian_blur_why_not, says_what_a_rung_needs) {
    const auto text_of = [](algorithm which, const blur_of_images& p, std::string_view kernel = {}) {
        return lack_in(why_not(which, p, hopper(), kernel));
    };
    const blur_of_images p = exact_problem(512, 512, 1, 300), small = exact_problem(512, 512, 1, 4);
    EXPECT_EQ(text_of(algorithm::automatic, p), "");
    EXPECT_EQ(text_of(algorithm::separable, p), "");
    EXPECT_EQ(text_of(algorithm::naive, exact_problem(512, 512, 1, 1001)),
              "gaussian_blur: naive takes radii up to 1000");
    EXPECT_EQ(text_of(algorithm::fused, p), "gaussian_blur: fused takes radii up to 255");
    EXPECT_EQ(text_of(algorithm::decimated, small),
              "gaussian_blur: decimated takes sigmas from 8 to 8192, and radii from 4 sigma on");
    EXPECT_EQ(text_of(algorithm::fused, small), "");
    EXPECT_EQ(text_of(algorithm::fused, small, "fused tiles"), "");
    EXPECT_EQ(text_of(algorithm::fused, small, "fused chains"),
              "gaussian_blur: fused chains takes one radius for both axes, from 6 to 16");
    blur_of_images in_words = small;
    in_words.begin = rows_at::source_words;
    EXPECT_EQ(text_of(algorithm::fused, in_words), "");
    EXPECT_EQ(
        text_of(algorithm::fused, in_words, "fused tiles"),
        "gaussian_blur: fused tiles needs a source whose rows begin at multiples of 16 bytes, of uint8 8");
    EXPECT_EQ(text_of(algorithm::mma_xy, small),
              HEDDLE_COMPILED_FOR_90 == 0
                  ? "gaussian_blur: mma_xy needs a device of compute capability 9.0, and heddle built for it"
                  : "gaussian_blur: mma_xy takes uint8");
}

TEST_F(gaussian_blur_select_of_bytes, says_what_rungs_on_the_tensor_cores_need) {
    blur_of_images p = square(512, 2);
    for (const algorithm which : {algorithm::mma_xy, algorithm::wgmma_xy, algorithm::mma_xy_by_channel})
        EXPECT_EQ(why_not(which, p, hopper()), "");
    p.border = border::wrap;
    EXPECT_EQ(why_not(algorithm::wgmma_xy, p, hopper()), "");
    EXPECT_EQ(lack_in(why_not(algorithm::mma_xy_by_channel, p, hopper())),
              "gaussian_blur: mma_xy_by_channel takes borders that neither wrap nor are a constant");
    p.begin = rows_at::source_words;
    EXPECT_EQ(lack_in(why_not(algorithm::wgmma_xy, p, hopper())),
              "gaussian_blur: wgmma_xy needs a source whose rows begin at multiples of 16 bytes");
    device_traits other = hopper();
    other.compute_capability_major = 10;
    EXPECT_EQ(lack_in(why_not(algorithm::mma_xy, p, other)),
              "gaussian_blur: mma_xy needs a device of compute capability 9.0, and heddle built for it");
}

TEST(gaussian_blur_why_not, says_what_was_given) {
    blur_of_images p{.width = 512, .height = 100, .radius = 30, .sigma = 10};
    EXPECT_EQ(why_not(algorithm::decimated, p, hopper()),
              "gaussian_blur: decimated takes sigmas from 8 to 8192, and radii from 4 sigma on; given: width "
              "512, height 100, "
              "channels 1, radius 30, sigma 10, type float, images 1, compute capability 9.0");
    p = {.width = 512,
         .height = 100,
         .channels = 3,
         .radius = {40, 30},
         .sigma = {12.5, 10},
         .type = pixel_type::u8,
         .images = 2,
         .exact = true,
         .begin = rows_at::single_elements,
         .border = border::reflect_101,
         .has_scratch = false};
    EXPECT_EQ(why_not(algorithm::decimated, p, hopper()),
              "gaussian_blur: decimated takes sigmas from 8 to 8192, and radii from 4 sigma on; given: width "
              "512, height 100, "
              "channels 3, radius (x 40, y 30), sigma (x 12.5, y 10), type uint8, images 2, exact true, "
              "in_words false, in_vectors false, border reflect_101, has_scratch false, compute capability "
              "9.0");
}

TEST(gaussian_blur_kernels, begin_with_their_rung) {
    const auto names_of = [](algorithm which) {
        const auto names = gaussian_blur_kernels(which);
        return std::vector<std::string_view>(names.begin(), names.end());
    };
    using names = std::vector<std::string_view>;
    EXPECT_EQ(names_of(algorithm::fused),
              (names{"fused ring", "fused strips", "fused chains", "fused tiles"}));
    names all;
    for (const algorithm which : gaussian_blur_algorithms()) {
        if (which != algorithm::fused) {
            EXPECT_EQ(names_of(which), names{to_string(which)});
        }
        std::ranges::copy(names_of(which), std::back_inserter(all));
    }
    EXPECT_EQ(names_of(algorithm::automatic), all);
}

TEST(gaussian_blur_workspace, is_of_the_radius_that_is_left_without_weights_of_zero) {
    for (const auto& [width, sigma, radius] :
         {std::tuple(4096, 12, 1000), std::tuple(4096, 20, 2000), std::tuple(100000, 50, 20000)}) {
        blur_of_images p{width, 1, 1, radius, sigma};
        blur_of_images left = p;
        left.radius = 15 * sigma;  // past which no weight is above 0 in float
        EXPECT_EQ(select(p, hopper()), select(left, hopper())) << width << ' ' << sigma;
        EXPECT_EQ(gaussian_blur_workspace_bytes(p, hopper()), gaussian_blur_workspace_bytes(left, hopper()))
            << width << ' ' << sigma;
        EXPECT_NE(select(p, hopper()), algorithm::decimated) << "the picture is small against the window";
    }
}

TEST(gaussian_blur_workspace, holds_the_intermediate_image_of_two_passes) {
    blur_of_images p = exact_problem(1001, 50, 3, {5, 7});
    const auto region = [&] {
        gaussian_blur_problem inside = p;
        inside.region = image_region{0, 7, p.width, p.height};
        inside.source.height += 2 * 7;
        return inside;
    };
    const auto bytes = [&](algorithm which) {
        return gaussian_blur_workspace_bytes(region(), hopper(), which);
    };
    for (const std::int64_t images : {1, 9}) {
        p.images = images;
        for (const algorithm which : {algorithm::separable, algorithm::shared_memory})
            EXPECT_GE(bytes(which), 1001 * (50 + 2 * 7) * 3 * 4 * images);
        for (const algorithm which : {algorithm::naive, algorithm::fused}) EXPECT_EQ(bytes(which), 0);
        EXPECT_EQ(bytes(algorithm::automatic), bytes(select(region(), hopper())));
    }
    p.radius = 5000;
    p.sigma = 1000;
    EXPECT_GT(bytes(algorithm::automatic), 0);
    for (std::int64_t blur_of_images::*extent :
         {&blur_of_images::width, &blur_of_images::height, &blur_of_images::images}) {
        blur_of_images empty = p;
        empty.*extent = 0;
        for (const algorithm which : gaussian_blur_algorithms())
            EXPECT_EQ(gaussian_blur_workspace_bytes(empty, hopper(), which), 0);
    }
}

TEST(gaussian_blur_select, does_without_scratch_memory_where_a_rung_can) {
    for (const std::int64_t radius : {1, 10, 300, 1000}) {
        blur_of_images p = exact_problem(1001, 500, 1, {radius, radius + 1 - radius % 2});
        p.radius.y = std::min<std::int64_t>(p.radius.y, 1000);
        p.has_scratch = false;
        EXPECT_EQ(why_not(select(p, hopper()), p, hopper()), "");
        EXPECT_EQ(lack_in(why_not(algorithm::separable, p, hopper())),
                  "gaussian_blur: separable needs scratch memory");
        EXPECT_GT(gaussian_blur_workspace_bytes(p, hopper(), algorithm::separable), 0);
    }
    blur_of_images wide = exact_problem(1001, 500, 1, {1001, 5});
    EXPECT_EQ(select(wide, hopper()), algorithm::separable);
    wide.has_scratch = false;
    EXPECT_EQ(error_of<unsupported>([&] { (void)select(wide, hopper()); }),
              "select: without scratch memory no algorithm takes this problem on this device; given: width "
              "1001, height 500, channels 1, radius (x 1001, y 5), sigma (x 333.6666666666667, y "
              "1.6666666666666667), type float, images 1, exact true, has_scratch false, compute "
              "capability 9.0");
}

}  // namespace
}  // namespace heddle::test
