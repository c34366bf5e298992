#include "tests/gaussian_blur/rungs.hpp"
#include <heddle/graph.hpp>

namespace heddle::test {
namespace {

INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_rung, testing::ValuesIn(every_rung()), parameter_names());
TEST_P(gaussian_blur_rung, blurs_regions_as_the_whole) {
    if (GetParam() == algorithm::automatic || GetParam() == algorithm::decimated ||
        (GetParam() == algorithm::fused && GetParam().kernel.empty()))
        GTEST_SKIP() << "may take another rung or kernel for a part, or has another grid there";
    const auto check = [this]<class T>(T) {
        for (const problem& p :
             {problem{133, 111, 1, {40, 48}, {10, 12}, border::reflect_101},
              problem{201, 141, 1, {16, 12}, {5, 4}, border::reflect}, problem{67, 53, 3, 2},
              problem{67, 10, 1, 2}.with(border::constant), problem{67, 53, 2, {9, 4}}.with(border::wrap)})
            for (const layout how : {layout::odd, layout::aligned})
                ASSERT_NO_FATAL_FAILURE(check_regions(p, how, on_device<T>()));
    };
    check(std::uint8_t{});
    check(std::uint16_t{});
    check(half{});
    check(float{});
    expect_runs_of_bytes();
}

TEST_P(gaussian_blur_rung, keeps_a_nan_in_its_windows) {
    if (GetParam() == algorithm::decimated) GTEST_SKIP() << "its windows are wider";
    for (const window_radius radius : {window_radius{0}, {1}, {2}, {3}, {5}, {7}, {9}, {13}, {15}, {3, 6}})
        for (const layout how : {layout::odd, layout::aligned}) {
            ASSERT_NO_FATAL_FAILURE(check_nan(problem{41, 43, 1, radius}, how, on_device<float>()));
            ASSERT_NO_FATAL_FAILURE(check_nan(problem{41, 43, 1, radius}, how, on_device<half>()));
        }
}

TEST_P(gaussian_blur_rung, rounds_uint8_as_float64_nearly_everywhere) {
    check_rounding_of_uint8(on_device<std::uint8_t>());
    expect_runs_of_bytes();
}

TEST_P(gaussian_blur_rung, can_be_captured_and_replayed) {
    const auto check = [this](const problem& p, layout how) {
        SCOPED_TRACE(text(p, how));
        guarded_images<std::uint8_t> source(p, how), destination(p, how);
        gaussian_blur_options options = options_of(p);
        GetParam().choose_in(options);
        bool runs = true;
        const graph captured = graph::capture(*stream, [&] {
            try {
                gaussian_blur<std::uint8_t>(source.view(), destination.view(), p.sigma, *stream, options);
            } catch (const unsupported&) {
                runs = false;
            }
        });
        for (int replay = 0; runs && replay < 2; ++replay, ++runs_) {
            const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(p.elements());
            source.upload(elements);
            captured.launch(*stream);
            stream->synchronize();
            ASSERT_NO_FATAL_FAILURE(
                expect_close(p, destination.download(), elements, on_device<std::uint8_t>().bound_of(p)));
        }
    };
    for (const problem& p : {problem{200, 50, 1, 5}, problem{200, 150, 1, 40, 10}})
        for (const layout how : {layout::tight, layout::aligned}) ASSERT_NO_FATAL_FAILURE(check(p, how));
    expect_runs_of_bytes();
}

TEST_P(gaussian_blur_rung, stays_inside_the_given_workspace) {
    const auto check = [this](const problem& p, bool is_region, layout how) {
        SCOPED_TRACE(text(p, how) + (is_region ? " region" : ""));
        image_region region{0, 0, p.width, p.height};
        if (is_region) region = {7, p.border == border::wrap ? 0 : p.height / 2, 40, 11};
        const problem asked = p.of(region);
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(p.elements());
        guarded_images<std::uint8_t> source(p, how), destination(asked, how);
        source.upload(elements);
        gaussian_blur_options options = options_of(p);
        options.region = region;
        const std::int64_t bytes = gaussian_blur_workspace_bytes(
            gaussian_blur_problem_of<std::uint8_t>(source.view(), destination.view(), p.sigma, options),
            traits_of(current_device()), GetParam());
        guarded<std::uint8_t> scratch(bytes);
        scratch.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0));
        const auto blurs_to = [&](guarded_images<std::uint8_t>& to) {
            return blur<std::uint8_t>(asked, source.batch(), to.batch(), options, GetParam());
        };
        options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
        if (!blurs_to(destination)) return;
        EXPECT_TRUE(scratch.canaries_alive());
        // What reductions expect to find zero has stayed so.
        const std::vector<std::uint8_t> left = scratch.download();
        for (std::size_t i = 0; i < std::min<std::size_t>(left.size(), 4096); ++i) ASSERT_EQ(left[i], 0);

        guarded_images<std::uint8_t> from_pool(asked, how);
        if (bytes > 0) {
            options.workspace = options.workspace.first(64);
            EXPECT_EQ(rejected_argument_of([&] { blurs_to(from_pool); }), "options.workspace") << "too small";
        }

        // An empty one stands for the pool, wherever it points to.
        options.workspace = {reinterpret_cast<std::byte*>(scratch.data()) + 1, 0};
        ASSERT_TRUE(blurs_to(from_pool));
        EXPECT_EQ(from_pool.download(), destination.download());
        EXPECT_TRUE(scratch.canaries_alive());

        if (bytes == 0) return;
        guarded_images<std::uint8_t> untouched(asked, how);
        options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), 4096};
        EXPECT_EQ(rejected_argument_of([&] { (void)blurs_to(untouched); }), "options.workspace");
        EXPECT_TRUE(untouched.untouched());
    };
    for (const problem& p :
         {problem{131, 37, 1, {4, 6}}, problem{131, 37, 3, {4, 6}}, problem{131, 90, 3, {40, 48}, {10, 12}}})
        for (const border kind : {border::reflect, border::wrap})
            for (const bool is_region : {false, true})
                for (const layout how : {layout::tight, layout::aligned})
                    ASSERT_NO_FATAL_FAILURE(check(p.with(kind), is_region, how));
    expect_runs_of_bytes();
}

}  // namespace
}  // namespace heddle::test
