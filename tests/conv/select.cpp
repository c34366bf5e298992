#include "tests/conv/shapes.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/hopper.hpp"

namespace heddle::test {
namespace {

const device_traits device{.sm_count = 132, .max_threads_per_sm = 2048};
const device_traits sm_80{.compute_capability_major = 8, .sm_count = 108, .max_threads_per_sm = 2048};
const device_traits sm_90{.compute_capability_major = 9, .sm_count = 132, .max_threads_per_sm = 2048};

conv_problem problem_of(const conv_shape& s, element_type type = element_type::f32) {
    conv_problem p = conv_problem_of<float>(
        {nullptr, s.count, s.height, s.width, s.channels},
        {nullptr, s.outputs, s.filter_height, s.filter_width, s.group_channels()},
        tensor_view<float>{nullptr, s.count, s.output_height(), s.output_width(), s.outputs},
        {.geometry = s.geometry});
    p.operands = p.result = type;
    for (tensor_layout* t : {&p.input, &p.filters, &p.output})
        t->element_bytes = type == element_type::f32 ? 4 : 2;
    return p;
}

/// What a rung on a device lacks for a problem, or one of its kernels.
auto lacks_of(conv_algorithm rung, const device_traits& on) {
    return [=](const conv_problem& p, std::string_view kernel = {}) {
        return lack_in(why_not(rung, p, on, kernel));
    };
}

conv_problem without_scratch(conv_problem problem) {
    problem.has_scratch = false;
    return problem;
}

TEST(conv_select, takes_tiles_where_groups_fill_them) {
    EXPECT_EQ(select(without_scratch(problem_of({8, 56, 56, 64, 64, 3, 3})), device), conv_algorithm::tiled);
    EXPECT_EQ(select(problem_of({1, 8, 8, 16, 32, 3, 3, {.groups = 16}}), device), conv_algorithm::naive);
    EXPECT_EQ(select(problem_of({0, 8, 8, 16, 16, 3, 3}), device), conv_algorithm::naive);
}

TEST(conv_select, takes_depthwise_where_each_channel_has_a_filter) {
    const auto reason = [](const conv_shape& s) {
        return lack_in(why_not(conv_algorithm::depthwise, problem_of(s), device));
    };
    EXPECT_EQ(select(problem_of({1, 8, 8, 16, 16, 3, 3, {.groups = 16}}), device), conv_algorithm::depthwise);
    EXPECT_EQ(reason({1, 9, 9, 5, 5, 9, 9, {.groups = 5}}), "");
    EXPECT_EQ(reason({1, 9, 90, 5, 5, 1, 82, {.groups = 5}}),
              "conv: depthwise takes filters of at most 81 taps");
    for (const conv_shape& s :
         {conv_shape{1, 8, 8, 16, 32, 3, 3, {.groups = 16}}, {1, 8, 8, 16, 16, 3, 3, {.groups = 8}}})
        EXPECT_EQ(reason(s), "conv: depthwise takes as many groups as input channels and as output channels");
}

TEST(conv_why_not, says_what_was_given) {
    EXPECT_EQ(why_not(conv_algorithm::mma_sync, problem_of({2, 8, 9, 16, 24, 3, 3}), device),
              "conv: mma_sync needs compute capability 8.0; given: input (count 2, height 8, width 9, "
              "channels 16), filters (count 24, height 3, width 3, channels 16), output (count 2, height "
              "6, width 7, channels 24), operands float, compute capability 0.0");
    conv_problem p = problem_of({1, 8, 8, 16, 16, 3, 3, {{2, 1}, {0, 1, 2, 3}, {}, 2}});
    p.input.image_stride = 2000;
    p.input.offset = 8;
    p.operands = element_type::f16;
    p.has_epilogue = true;
    p.is_matmul_epilogue = false;
    p.residual = p.output;
    p.has_scratch = false;
    p.precision = precision::tf32;
    EXPECT_EQ(why_not(conv_algorithm::depthwise, p, device),
              "conv: depthwise takes as many groups as input channels and as output channels; given: input "
              "(count 1, height 8, width 8, channels 16, image_stride 2000, alignment 8), filters (count "
              "16, height 3, width 3, channels 8), output (count 1, height 4, width 11, channels 16), "
              "geometry (stride (y 2, x 1), padding (top 0, bottom 1, left 2, right 3), groups 2), "
              "operands half, result float, has_epilogue true, is_matmul_epilogue false, residual (count "
              "1, height 4, width 11, channels 16), has_scratch false, precision tf32, compute "
              "capability 0.0");
}

TEST(conv_select, takes_tensor_cores_where_maps_describe_windows) {
    const auto problem = [](const conv_shape& s) { return problem_of(s, element_type::bf16); };
    const conv_shape plain{2, 8, 8, 64, 64, 3, 3, {.padding = around(1)}};
    if (!why_not(conv_algorithm::persistent, problem(plain), sm_90).empty())
        GTEST_SKIP() << "heddle is built without kernels for compute capability 9.0";
    EXPECT_EQ(select(problem(plain), sm_90), conv_algorithm::persistent);
    EXPECT_EQ(conv_workspace_bytes(problem(plain), sm_90), 0);
    const auto reason = lacks_of(conv_algorithm::persistent, sm_90);
    const auto refused = [&](const conv_shape& s) { return !reason(problem(s)).empty(); };
    EXPECT_EQ(reason(problem_of(plain)),
              "conv: persistent takes half and bfloat16, and float where its precision may be "
              "that of tf32");
    EXPECT_EQ(lack_in(why_not(conv_algorithm::wgmma, problem_of(plain), sm_90)),
              "conv: wgmma takes half and bfloat16");
    EXPECT_FALSE(refused({1, 3, 300, 8, 8, 1, 2, {.padding = {0, 0, 128, 127}, .dilation = {1, 255}}}));
    EXPECT_TRUE(refused({1, 3, 300, 8, 8, 1, 2, {.padding = {0, 0, 129, 0}}}));
    EXPECT_TRUE(refused({1, 3, 300, 8, 8, 1, 2, {.padding = {0, 0, 0, 128}}}));
    EXPECT_TRUE(refused({1, 3, 300, 8, 8, 1, 2, {.dilation = {1, 256}}}));
    EXPECT_TRUE(refused(
        {1, 3, 300, 8, 8, 1, 2, {.dilation = {1, 129}}}));  // the last window ends 129 before the image
    EXPECT_FALSE(refused({1, 3, 300, 8, 8, 1, 2, {.stride = {1, 8}}}));
    EXPECT_TRUE(refused({1, 3, 300, 8, 8, 1, 2, {.stride = {1, 9}}}));
    EXPECT_TRUE(refused({1, 8, 8, 96, 192, 3, 3, {.groups = 3}}));
    EXPECT_TRUE(refused({1, 8, 8, 128, 144, 3, 3, {.groups = 2}}));
    EXPECT_FALSE(refused({1, 8, 8, 128, 128, 3, 3, {.groups = 2}}));
    conv_problem gaps = problem(plain);
    gaps.output.row_stride += 64;
    gaps.output.image_stride *= 2;
    EXPECT_EQ(reason(gaps),
              "conv: persistent needs an output and a residual whose pixels all lie at one stride");
}

TEST(conv_select, takes_tensor_cores_of_float_where_maps_describe_windows) {
    const auto problem = [](const conv_shape& s) {
        conv_problem p = problem_of(s);
        p.precision = precision::tf32;
        return p;
    };
    const auto reason = lacks_of(conv_algorithm::persistent, sm_90);
    const auto takes = [&](const conv_shape& s) { return reason(problem(s)).empty(); };
    const conv_shape plain{2, 8, 8, 64, 64, 3, 3, {.padding = around(1)}};
    if (!takes(plain)) GTEST_SKIP() << "heddle is built without kernels for compute capability 9.0";
    EXPECT_EQ(select(problem(plain), sm_90), conv_algorithm::persistent);
    EXPECT_EQ(select(problem_of(plain), sm_90), conv_algorithm::register_tiled);
    EXPECT_EQ(conv_workspace_bytes(problem(plain), sm_90, conv_algorithm::persistent, "persistent 128x128"),
              0);
    EXPECT_EQ(lack_in(why_not(conv_algorithm::wgmma, problem(plain), sm_90)),
              "conv: wgmma takes half and bfloat16");
    for (const std::int64_t channels : {4, 12, 36, 100}) EXPECT_TRUE(takes({2, 8, 8, channels, 64, 3, 3}));
    EXPECT_TRUE(takes({1, 8, 8, 96, 192, 3, 3, {.groups = 3}}));  // 32 channels and 64 outputs a group
    EXPECT_FALSE(takes({1, 8, 8, 48, 192, 3, 3, {.groups = 3}}));
    EXPECT_EQ(reason(problem({1, 8, 8, 96, 96, 3, 3, {.groups = 3}})),
              "conv: persistent needs groups of a multiple of 64 input channels, of float 32, and of a "
              "multiple of a tile's outputs");
    int built = 0;
    for (const std::string_view kernel : conv_kernels(conv_algorithm::persistent))
        if (const std::string why = reason(problem(plain), kernel); why.empty())
            ++built;
        else
            EXPECT_EQ(why, "conv: " + std::string(kernel) + " is not built for float");
    EXPECT_EQ(built, 4);
}

/// Pixels, taps or both are copied where they do not lie at multiples of 16 bytes, with channels up to such a multiple.
TEST(conv_select, copies_what_maps_do_not_describe) {
    const conv_shape odd{2, 8, 9, 67, 131, 3, 3, {.padding = around(1)}};
    const auto of_16_bits = [](const conv_shape& s) { return problem_of(s, element_type::bf16); };
    const auto tf32 = [](const conv_shape& s) {
        conv_problem p = problem_of(s);
        p.precision = precision::tf32;
        return p;
    };
    if (!why_not(conv_algorithm::persistent, of_16_bits(odd), sm_90).empty())
        GTEST_SKIP() << "heddle is built without kernels for compute capability 9.0";
    constexpr std::int64_t tickets = 4096, pixels = 2 * 8 * 9, taps = 131 * 9;
    const auto copies = [&](const conv_problem& p, conv_algorithm rung = conv_algorithm::persistent) {
        EXPECT_EQ(lack_in(why_not(rung, without_scratch(p), sm_90)),
                  "conv: " + std::string(to_string(rung)) +
                      " needs pixels and taps at multiples of 16 bytes, taps at one stride, or scratch "
                      "memory for copies");
        const bool has_tiles = rung == conv_algorithm::persistent;  // those of 64 x 64 may also be shared
        return conv_workspace_bytes(p, sm_90, rung, has_tiles ? "persistent 128x64" : "") - tickets;
    };
    EXPECT_EQ(copies(of_16_bits(odd)), (pixels + taps) * 72 * 2);
    EXPECT_EQ(copies(of_16_bits(odd), conv_algorithm::wgmma), (pixels + taps) * 72 * 2);
    EXPECT_EQ(copies(tf32(odd)), (pixels + taps) * 68 * 4);
    EXPECT_EQ(copies(of_16_bits({2, 8, 9, 1, 131, 3, 3})), (pixels + taps) * 8 * 2);
    // of every second row and every third column
    EXPECT_EQ(copies(of_16_bits({2, 9, 8, 67, 131, 1, 1, {.stride = {2, 3}}})), (2 * 5 * 3 + 131) * 72 * 2);
    EXPECT_EQ(copies(of_16_bits({2, 9, 20, 64, 131, 1, 1, {.stride = {1, 9}}})), 2 * 9 * 3 * 64 * 2);
    EXPECT_EQ(copies(of_16_bits({2, 9, 8, 67, 131, 1, 2, {.stride = {9, 3}}})), (2 * 8 + 131 * 2) * 72 * 2);

    const conv_shape even{2, 8, 9, 64, 131, 3, 3, {.padding = around(1)}};
    EXPECT_EQ(conv_workspace_bytes(of_16_bits(even), sm_90), 0);
    conv_problem at = of_16_bits(even);
    at.input.offset = 8;
    EXPECT_EQ(copies(at), pixels * 64 * 2);
    at = of_16_bits(even);
    at.filters.col_stride = 66;
    at.filters.row_stride = 3 * 66;
    at.filters.image_stride = 9 * 66;
    EXPECT_EQ(copies(at), taps * 64 * 2);
    at = tf32({1, 8, 8, 128, 128, 3, 3, {.groups = 2}});
    at.input.col_stride = 130;
    at.input.row_stride = 8 * 130;
    at.input.image_stride = 64 * 130;
    EXPECT_EQ(copies(at), 64 * 128 * 4);

    conv_problem huge = of_16_bits({1, 1 << 15, 1 << 15, 1025, 8, 3, 3, {.stride = {8, 8}}});
    EXPECT_EQ(
        lack_in(why_not(conv_algorithm::persistent, huge, sm_90)),
        "conv: persistent needs windows that step by 8 at most and reach at most 255 pixels, padding of at "
        "most 127, extents below 2^31, and copies of less than 64 GiB");
}

/// A copy takes time. Large convolutions have it, and small ones take another kernel.
TEST(conv_select, copies_where_it_pays) {
    const auto of_16_bits = [](const conv_shape& s) { return problem_of(s, element_type::bf16); };
    if (!why_not(conv_algorithm::persistent, of_16_bits({1, 8, 8, 8, 8, 1, 1}), sm_90).empty())
        GTEST_SKIP() << "heddle is built without kernels for compute capability 9.0";
    const conv_geometry dilated{.padding = around(2), .dilation = {2, 2}};
    for (const conv_problem& p :
         {of_16_bits({256, 57, 57, 67, 131, 1, 1}), of_16_bits({256, 57, 57, 67, 131, 3, 3, dilated}),
          of_16_bits({64, 56, 56, 25, 64, 7, 7, {.padding = around(3)}})}) {
        EXPECT_EQ(select(p, sm_90), conv_algorithm::persistent);
        EXPECT_GT(conv_workspace_bytes(p, sm_90), 0);
        EXPECT_NE(select(without_scratch(p), sm_90), conv_algorithm::persistent);
    }
    conv_problem floats = problem_of({64, 56, 56, 109, 128, 3, 3, {.padding = around(1)}});
    floats.precision = precision::tf32;
    EXPECT_EQ(select(floats, sm_90), conv_algorithm::persistent);
    for (const conv_problem& p : {of_16_bits({1, 7, 7, 5, 16, 1, 1}), problem_of({1, 7, 7, 5, 16, 1, 1})})
        EXPECT_EQ(conv_workspace_bytes(p, sm_90), 0);
}

TEST(conv_select, takes_tensor_cores_where_threads_copy_windows) {
    const auto problem = [](const conv_shape& s) { return problem_of(s, element_type::f16); };
    const auto reason = lacks_of(conv_algorithm::mma_sync, sm_80);
    const conv_shape plain{2, 8, 8, 16, 24, 3, 3, {.padding = around(1)}};
    const conv_shape large{8, 56, 56, 256, 256, 3, 3};
    EXPECT_EQ(select(without_scratch(problem(large)), sm_80), conv_algorithm::mma_sync);
    EXPECT_EQ(select(problem({32, 224, 224, 3, 64, 7, 7, {.stride = {2, 2}}}), sm_80),
              conv_algorithm::mma_sync);
    EXPECT_EQ(select(without_scratch(problem_of(large)), sm_80), conv_algorithm::register_tiled);
    conv_problem rounded = problem_of(large);
    rounded.precision = precision::tf32;
    EXPECT_EQ(select(rounded, sm_80), conv_algorithm::mma_sync);
    EXPECT_EQ(reason(rounded, "mma_sync elements"), "conv: mma_sync elements takes half and bfloat16");
    EXPECT_EQ(reason(problem_of(plain)),
              "conv: mma_sync takes half and bfloat16, and float where its precision may be that of tf32");
    EXPECT_EQ(lack_in(why_not(conv_algorithm::mma_sync, problem(plain), device)),
              "conv: mma_sync needs compute capability 8.0");
    for (const std::string_view kernel : conv_kernels(conv_algorithm::mma_sync))
        EXPECT_EQ(reason(problem(plain), kernel), "");
    const auto takes = [&](const conv_shape& s, std::string_view kernel) {
        return reason(problem(s), kernel).empty();
    };
    EXPECT_FALSE(takes({2, 8, 8, 12, 24, 3, 3}, "mma_sync packets"));
    EXPECT_TRUE(takes({2, 8, 8, 12, 24, 3, 3}, "mma_sync words"));
    EXPECT_FALSE(takes({2, 8, 8, 16, 24, 3, 3, {.groups = 4}}, "mma_sync packets"));
    EXPECT_FALSE(takes({2, 8, 8, 13, 24, 3, 3}, "mma_sync words"));
    EXPECT_TRUE(takes({2, 8, 8, 13, 24, 3, 3}, "mma_sync elements"));
    conv_problem at = problem(plain);
    at.input.offset = 8;
    EXPECT_EQ(reason(at, "mma_sync packets"),
              "conv: mma_sync packets needs channels, pixels and taps at multiples of 16 bytes");
    at.input.offset = 2;
    EXPECT_EQ(reason(at, "mma_sync words"),
              "conv: mma_sync words needs channels, pixels and taps at multiples of 4 bytes");
    const std::int64_t many = (std::int64_t{1} << 30) + 1;
    EXPECT_NE(reason(problem({1, 1, many, 1, 1, 1, 1})), "");
}

TEST(conv_select, takes_tiles_in_registers_of_float) {
    const auto reason = lacks_of(conv_algorithm::register_tiled, sm_80);
    const conv_problem plain = problem_of({2, 8, 8, 12, 24, 3, 3, {.padding = around(1)}});
    EXPECT_EQ(select(plain, sm_80), conv_algorithm::register_tiled);
    EXPECT_EQ(conv_workspace_bytes(plain, sm_80), 0);
    EXPECT_EQ(reason(plain, "register_tiled words"), "");
    EXPECT_EQ(reason(plain, "register_tiled fours"), "");
    EXPECT_EQ(reason(problem_of({2, 8, 8, 6, 24, 3, 3}), "register_tiled fours"),
              "conv: register_tiled fours needs a multiple of four channels in a group");
    EXPECT_EQ(lack_in(why_not(conv_algorithm::register_tiled, plain, device)),
              "conv: register_tiled needs compute capability 8.0");
    conv_problem halves = plain;
    halves.operands = halves.result = element_type::f16;
    for (tensor_layout* t : {&halves.input, &halves.filters, &halves.output}) t->element_bytes = 2;
    EXPECT_EQ(reason(halves), "conv: register_tiled takes float");
    const std::int64_t many = (std::int64_t{1} << 30) + 1;
    EXPECT_NE(reason(problem_of({1, 1, many, 1, 8, 1, 1})), "");
}

TEST(conv_select, takes_slabs_of_small_groups) {
    const auto problem = [](std::int64_t channels, std::int64_t outputs, std::int64_t side = 8) {
        return problem_of(
            {2, side, side, 8 * channels, 8 * outputs, 3, 3, {.padding = around(1), .groups = 8}},
            element_type::bf16);
    };
    const auto reason = lacks_of(conv_algorithm::grouped, sm_80);
    for (const std::int64_t channels : {2, 4, 8, 16})
        EXPECT_EQ(select(problem(channels, channels, 56), sm_80), conv_algorithm::grouped) << channels;
    EXPECT_EQ(select(problem(1, 1, 56), sm_80), conv_algorithm::depthwise);
    EXPECT_EQ(select(problem(256, 256, 56), sm_80), conv_algorithm::mma_sync);
    conv_problem floats = problem_of({2, 56, 56, 64, 64, 3, 3, {.padding = around(1), .groups = 8}});
    EXPECT_EQ(select(floats, sm_80), conv_algorithm::grouped);
    floats.precision = precision::tf32;
    EXPECT_EQ(reason(floats, "grouped mma"), "conv: grouped mma takes half and bfloat16");
    EXPECT_EQ(reason(problem(6, 4), "grouped mma"),
              "conv: grouped mma needs groups of a multiple of 4 input channels");
    EXPECT_EQ(reason(problem(6, 4)), "");
    EXPECT_EQ(reason(problem(32, 32), "grouped mma"), "");
    EXPECT_NE(reason(problem(36, 4)), "");
    EXPECT_NE(reason(problem(4, 33)), "");
    EXPECT_EQ(lack_in(why_not(conv_algorithm::grouped, problem(4, 4), device)),
              "conv: grouped needs compute capability 8.0");
    for (const std::int64_t channels : {1, 5, 17, 32})
        for (const std::int64_t outputs : {1, 7, 16, 32})
            EXPECT_EQ(reason(problem_of({1, 5, 6, 3 * channels, 3 * outputs, 3, 3, {.groups = 3}})), "");
    EXPECT_EQ(reason(problem_of({1, 40, 41, 64, 64, 3, 3, {{4, 4}, {}, {5, 7}, 16}})), "");
    EXPECT_EQ(reason(problem_of({1, 3, 40, 8, 12, 1, 30, {.padding = {0, 0, 11, 7}, .groups = 2}})), "");
}

TEST(conv_select, lays_out_windows_where_it_is_asked) {
    const auto bytes = [](const conv_problem& p) {
        return conv_workspace_bytes(p, device, conv_algorithm::im2col);
    };
    EXPECT_EQ(bytes(problem_of({2, 8, 8, 16, 24, 1, 1})), 0);
    EXPECT_EQ(bytes(problem_of({2, 8, 8, 16, 24, 1, 1, {.stride = {2, 1}}})), 4096 + 2 * 4 * 8 * 16 * 4);
    EXPECT_EQ(bytes(problem_of({1, 4, 4, 3, 24, 3, 3})), 4096 + 2 * 2 * 28 * 4);  // 27, in packets of 4
    conv_problem gaps = problem_of({2, 8, 8, 16, 24, 3, 3});
    gaps.filters.col_stride = 17;
    gaps.filters.row_stride = 3 * 17;
    gaps.filters.image_stride = 9 * 17;
    EXPECT_EQ(lack_in(why_not(conv_algorithm::im2col, gaps, device)),
              "conv: im2col needs filters whose taps lie side by side");
    conv_problem sums = problem_of({2, 8, 8, 16, 24, 1, 1});
    sums.has_epilogue = true;  // matmul lacks this epilogue
    sums.is_matmul_epilogue = false;
    EXPECT_EQ(bytes(sums), 4096 + 2 * 8 * 8 * 24 * 4);
    sums.has_scratch = false;
    EXPECT_EQ(lack_in(why_not(conv_algorithm::im2col, sums, device)), "conv: im2col needs scratch memory");
    sums.is_matmul_epilogue = true;
    EXPECT_EQ(why_not(conv_algorithm::im2col, sums, device), "");
    sums.residual = sums.output;
    sums.residual.image_stride += 8;  // not the rows of a matrix
    EXPECT_EQ(lack_in(why_not(conv_algorithm::im2col, sums, device)), "conv: im2col needs scratch memory");
}

/// All multiprocessors then multiply parts of the few tiles, and leave sums in scratch memory.
TEST(conv_select, shares_few_tiles_of_deep_sums) {
    const auto few = [](const conv_shape& s) { return problem_of(s, element_type::bf16); };
    const conv_problem deep = few({1, 7, 7, 512, 512, 3, 3, {.padding = around(1)}});
    constexpr std::string_view kernel = "persistent 64x64";
    if (!why_not(conv_algorithm::persistent, deep, sm_90, kernel).empty())
        GTEST_SKIP() << "heddle is built without kernels for compute capability 9.0";
    const auto bytes = [&](const conv_problem& p) {
        return conv_workspace_bytes(p, sm_90, conv_algorithm::persistent, kernel);
    };
    EXPECT_EQ(bytes(deep), 4096 + 2 * 72 * 64 * 64 * 4);  // eight tiles of 72 steps, 8 for each worker
    EXPECT_EQ(why_not(conv_algorithm::persistent, without_scratch(deep), sm_90, kernel), "");
    EXPECT_NE(select_kernel(without_scratch(deep), sm_90), kernel);
    EXPECT_EQ(bytes(few({1, 7, 7, 512, 512, 1, 1})), 0);                           // eight steps in all
    EXPECT_EQ(bytes(few({132, 8, 8, 512, 64, 3, 3, {.padding = around(1)}})), 0);  // a whole round of tiles
    // Copies come first: 67 channels of pixels and of taps are 72.
    EXPECT_EQ(bytes(few({1, 8, 8, 67, 64, 7, 7, {.padding = around(3)}})),
              4096 + (64 + 64 * 49) * 72 * 2 + 2 * 12 * 64 * 64 * 4);
}

TEST(conv_select, adds_up_shares_where_filters_are_few) {
    const auto bytes = [](const conv_problem& p) {
        return conv_workspace_bytes(p, device, conv_algorithm::kn2row);
    };
    const std::int64_t of_pixel = 9 * 16;  // 3 x 3 taps of four filters
    EXPECT_EQ(bytes(problem_of({2, 8, 8, 64, 4, 3, 3})), 4096 + 2 * 8 * 8 * of_pixel + of_pixel);
    EXPECT_EQ(bytes(problem_of({2, 8, 8, 64, 1, 3, 3})),
              4096 + (2 * 8 * 8 + 1) * 12 * 4);  // 9, in packets of 4
    const std::int64_t of_image = 512 * 512 * of_pixel;
    EXPECT_EQ(bytes(problem_of({100, 512, 512, 64, 4, 3, 3})),
              4096 + (256 << 20) / of_image * of_image + of_pixel);
    const auto reason = [](const conv_problem& p) {
        return lack_in(why_not(conv_algorithm::kn2row, p, device));
    };
    EXPECT_EQ(reason(problem_of({2, 8, 8, 64, 4, 3, 3, {.groups = 2}})), "conv: kn2row takes one group");
    EXPECT_NE(reason(problem_of({2, 0, 0, 64, 4, 1, 2, {.padding = around(2)}})), "");
    conv_problem gaps = problem_of({2, 8, 8, 64, 4, 3, 3});
    gaps.input.row_stride += 64;
    gaps.input.image_stride *= 2;
    EXPECT_EQ(reason(gaps),
              "conv: kn2row needs an input whose pixels, and filters whose taps, all lie at one stride");
    EXPECT_EQ(reason(problem_of({1, 4096, 4096, 64, 1, 4, 4})), "");  // 1 GiB
    EXPECT_EQ(reason(problem_of({1, 4096, 4097, 64, 1, 4, 4})),
              "conv: kn2row takes images of at least one pixel, and of at most 1 GiB of products "
              "with all taps, "
              "in float");
    EXPECT_EQ(reason(without_scratch(problem_of({2, 8, 8, 64, 4, 3, 3}))),
              "conv: kn2row needs scratch memory");

    const conv_problem few = problem_of({16, 64, 64, 512, 4, 3, 3}, element_type::bf16);
    EXPECT_EQ(select(few, hopper()), conv_algorithm::kn2row);
    EXPECT_NE(select(problem_of({16, 64, 64, 512, 512, 3, 3}, element_type::bf16), hopper()),
              conv_algorithm::kn2row);
    // Where heddle is built for compute capability 9.0, the product has copies: 67 channels of pixels and taps are 72.
    if (why_not(conv_algorithm::persistent, few, hopper()).empty()) {
        EXPECT_EQ(conv_workspace_bytes(problem_of({2, 8, 8, 67, 4, 3, 3}, element_type::bf16), hopper(),
                                       conv_algorithm::kn2row),
                  4096 + (2 * 8 * 8 + 4 * 9) * 72 * 2 + (2 * 8 * 8 + 1) * of_pixel);
    }
}

TEST(conv_select, takes_a_product_of_matrices_where_nothing_is_copied) {
    const conv_shape plain{32, 56, 56, 64, 64, 1, 1};
    for (const bool has_scratch : {false, true})
        for (const bool has_epilogue : {false, true}) {
            conv_problem p = problem_of(plain);
            p.has_scratch = has_scratch;
            p.has_epilogue = p.is_matmul_epilogue = has_epilogue;
            EXPECT_EQ(select(p, hopper()), conv_algorithm::im2col);
            EXPECT_EQ(conv_workspace_bytes(p, hopper()), 0);
        }
    conv_problem scaled = problem_of(plain), gaps = scaled, apart = scaled, turned = scaled;
    scaled.has_epilogue = true;
    scaled.is_matmul_epilogue = false;
    gaps.output.row_stride += 24;
    gaps.output.image_stride *= 2;
    apart.input.image_stride += 16;
    turned.residual = turned.output;
    turned.residual.image_stride += 24;
    turned.has_epilogue = turned.is_matmul_epilogue = true;
    for (const conv_problem& p : {scaled, gaps, apart, turned}) {
        EXPECT_GT(conv_workspace_bytes(p, hopper(), conv_algorithm::im2col), 0);
        EXPECT_NE(select(without_scratch(p), hopper()), conv_algorithm::im2col);
    }
}

TEST(conv_select, lays_out_as_many_images_at_a_time_as_fit) {
    const auto bytes = [](const conv_shape& s) {
        return conv_workspace_bytes(problem_of(s), hopper(), conv_algorithm::im2col);
    };
    const std::int64_t of_image = 54 * 54 * 9 * 64 * 4;
    EXPECT_EQ(bytes({1, 56, 56, 64, 64, 3, 3}), 4096 + of_image);
    EXPECT_EQ(bytes({1000, 56, 56, 64, 64, 3, 3}), 4096 + (256 << 20) / of_image * of_image);
    const conv_shape large{1,  4096, 4096, 64,
                           64, 3,    3};  // an image's windows exceed the limit of `automatic`
    EXPECT_GT(bytes(large), std::int64_t{1} << 30);
    EXPECT_EQ(conv_workspace_bytes(problem_of(large), hopper()), 0);
}

TEST(conv_select, knows_which_epilogues_matmul_has) {
    using enum matmul_activation;
    const tensor_view<const float> input{nullptr, 2, 8, 8, 16};
    const filter_view<const float> filters{nullptr, 24, 1, 1, 16};
    const tensor_view<float> output{nullptr, 2, 8, 8, 24};
    const vector_view<const float> of_channels{nullptr, 24};
    for (const matmul_activation activation : {none, relu})
        for (const bool before : {false, true})
            for (const bool bias : {false, true})
                for (const bool scale : {false, true})
                    for (const bool residual : {false, true}) {
                        conv_epilogue<float> e{.activation = activation,
                                               .residual_before_activation = before};
                        if (bias) e.bias = of_channels;
                        if (scale) e.scale = of_channels;
                        if (residual) e.residual = output;
                        const conv_problem p = conv_problem_of<float>(input, filters, output, e);
                        EXPECT_EQ(p.has_epilogue, activation == relu || bias || scale || residual);
                        EXPECT_EQ(p.is_matmul_epilogue,
                                  !scale && !(residual && before && activation == relu));
                    }
}

TEST(conv_select, asks_for_a_problem_of_one_mind) {
    conv_problem problem = problem_of({1, 8, 8, 16, 16, 3, 3});
    problem.output.height = 7;
    expect_error("select: output.height is 7, expected 6 (conv_output_height())",
                 [&] { (void)select(problem, device); });
}

TEST(conv_rungs, run_any_problem_and_take_no_scratch_memory) {
    for (const conv_shape& s : conv_shapes())
        for (const conv_algorithm algorithm : {conv_algorithm::naive, conv_algorithm::tiled}) {
            EXPECT_EQ(why_not(algorithm, problem_of(s), device), "");
            EXPECT_EQ(conv_workspace_bytes(problem_of(s), device, algorithm), 0);
        }
}

TEST(conv_output, has_as_many_pixels_as_the_filter_has_places) {
    EXPECT_EQ(conv_output_height(224, 7, {.stride = {2, 2}, .padding = {3, 3, 3, 3}}), 112);
    EXPECT_EQ(conv_output_width(5, 3, {.padding = {0, 0, 1, 2}, .dilation = {9, 2}}), 4);
    EXPECT_EQ(conv_output_width(2, 3), 0);
    EXPECT_EQ(conv_output_height(1, 3, {.stride = {4, 4}}), 0);
    EXPECT_EQ(conv_output_height(3, 3, {.stride = {0, 0}}), 0);
}

}  // namespace
}  // namespace heddle::test
