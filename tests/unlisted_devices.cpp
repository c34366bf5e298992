#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

// Devices that heddle has no costs of have rungs that run, and take none of those that are compiled for Hopper alone.
namespace heddle {

inline void PrintTo(const device_traits& device, std::ostream* out) {
    *out << device.name;
}

namespace {

device_traits described(const char* name, int capability, int sm_count, int threads, std::size_t kibibytes,
                        std::size_t l2_mebibytes) {
    return {.name = name,
            .compute_capability_major = capability / 10,
            .compute_capability_minor = capability % 10,
            .sm_count = sm_count,
            .max_threads_per_sm = threads,
            .registers_per_sm = 65536,
            .shared_memory_per_sm = kibibytes * 1024,
            .shared_memory_per_block = 48 * 1024,
            .shared_memory_per_block_optin = (kibibytes - 1) * 1024,
            .l2_bytes = l2_mebibytes << 20};
}

const device_traits devices[] = {
    described("B200", 100, 148, 2048, 228, 126),
    described("B300", 103, 148, 2048, 228, 126),
    described("RTX_5090", 120, 170, 1536, 100, 96),
    described("a_small_part", 120, 30, 1536, 100, 32),
};

class unlisted_device : public testing::TestWithParam<device_traits> {
  protected:
    /// `simplest` is what remains where a device has nothing that faster rungs need.
    template <class Problem, class Algorithm>
    static void expect_rungs(const std::vector<Problem>& problems, Algorithm simplest) {
        EXPECT_GE(problems.size(), 12u);
        for (std::size_t i = 0; i < problems.size() && !HasFailure(); ++i) {
            SCOPED_TRACE("problem " + std::to_string(i));
            Algorithm chosen = Algorithm::automatic;
            EXPECT_NO_THROW(chosen = select(problems[i], GetParam()));
            EXPECT_NE(to_string(chosen), "automatic");
            EXPECT_EQ(why_not(chosen, problems[i], GetParam()), "");
            EXPECT_EQ(why_not(simplest, problems[i], GetParam()), "");
        }
    }
};

constexpr bool either[] = {false, true};
constexpr std::int64_t many = std::int64_t{1} << 32;

struct matrix_shape {
    std::int64_t rows, cols;
};
constexpr matrix_shape matrices[] = {
    {0, 0},     {0, 9},       {7, 0},      {1, 1},       {3, 5},        {17, 33},
    {64, 64},   {1, 1000003}, {9, 1},      {1000, 3},    {4096, 4096},  {100003, 12},
    {4, 65536}, {2, 1 << 20}, {16, 65537}, {1 << 20, 8}, {1, many + 1}, {many + 1, 1},
};

/// Of the operations on rows of 2 or 4 bytes an element.
template <class Problem>
std::vector<Problem> problems_of_rows() {
    std::vector<Problem> all;
    for (const auto& [rows, cols] : matrices)
        for (const std::size_t bytes : {2, 4})
            for (const bool unit_stride : either)
                for (const bool is_other : either) {
                    Problem p{.rows = rows, .cols = cols, .unit_stride = unit_stride, .element_bytes = bytes};
                    p.in_packets =
                        unit_stride && !is_other && cols % (16 / static_cast<std::int64_t>(bytes)) == 0;
                    if constexpr (requires { p.x_in_columns; })
                        p.x_in_columns = p.y_in_columns = !unit_stride && is_other;
                    if constexpr (requires { p.has_column_sums; }) {
                        all.push_back(p);
                        p.has_column_sums = p.has_scratch = false;
                    }
                    all.push_back(p);
                }
    return all;
}

TEST_P(unlisted_device, runs_operations_on_rows) {
    expect_rungs(problems_of_rows<loss_problem>(), loss_algorithm::naive);
    expect_rungs(problems_of_rows<norm_problem>(), norm_algorithm::naive);
    expect_rungs(problems_of_rows<norm_gradient_problem>(), norm_gradient_algorithm::naive);
    expect_rungs(problems_of_rows<softmax_problem>(), softmax_algorithm::naive);
    expect_rungs(problems_of_rows<softmax_gradient_problem>(), softmax_gradient_algorithm::naive);
}

TEST_P(unlisted_device, runs_elementwise_operations) {
    std::vector<elementwise_problem> all;
    for (const auto& [rows, cols] : matrices)
        for (const std::size_t bytes : {2, 4, 8})
            for (const int inputs : {1, 2, 3}) {
                const elementwise_problem dense{rows, cols, inputs, bytes};
                all.insert(all.end(), 5, dense);
                all.end()[-1].lead = 1;
                all.end()[-2].in_packets = false;
                all.end()[-3].in_packets = false;
                all.end()[-3].is_crossed = true;
                all.end()[-4].broadcasts = inputs;
                all.end()[-4].fills_packets = true;
                all.push_back(dense);
                all.back().shifts_packets = bytes == 2;
            }
    expect_rungs(all, elementwise_algorithm::naive);
}

TEST_P(unlisted_device, runs_random_numbers_and_transpositions) {
    std::vector<random_problem> numbers;
    std::vector<transpose_problem> transpositions;
    for (const auto& [rows, cols] : matrices)
        for (const int bytes : {1, 2, 4, 8})
            for (const bool unit_stride : either)
                for (const bool is_other : either) {
                    const int block = bytes == 8 && is_other ? 2 : 4;
                    numbers.push_back({rows, cols, static_cast<std::size_t>(bytes), block, unit_stride});
                    numbers.back().is_crossed = !unit_stride && is_other;
                    transpositions.push_back({rows, cols, bytes, unit_stride, is_other});
                    transpositions.push_back({rows, cols, bytes, unit_stride, is_other, bytes});
                }
    expect_rungs(numbers, random_algorithm::naive);
    expect_rungs(transpositions, transpose_algorithm::naive);
}

TEST_P(unlisted_device, runs_reductions_of_matrices) {
    std::vector<matrix_reduce_problem> all;
    for (const auto& [rows, cols] : matrices)
        for (const std::size_t bytes : {2, 4})
            for (const bool is_aligned : either)
                for (const bool has_scratch : either) {
                    all.push_back({rows, cols, cols, 1, bytes, is_aligned, has_scratch});
                    all.push_back({rows, cols, cols + 8, 1, bytes, is_aligned, has_scratch});
                    all.push_back({rows, cols, 1, rows, bytes, is_aligned, has_scratch});
                    all.push_back({rows, cols, 3 * cols, 3, bytes, is_aligned, has_scratch});
                }
    expect_rungs(all, matrix_reduce_algorithm::naive);
}

TEST_P(unlisted_device, runs_operations_on_vectors) {
    std::vector<reduce_problem> reductions, in_one_block;
    std::vector<scan_problem> scans;
    std::vector<histogram_problem> histograms;
    std::vector<optimizer_problem> steps;
    for (const std::int64_t size :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{1000}, std::int64_t{2049},
          std::int64_t{1} << 20, std::int64_t{100000007}, many + 1})
        for (const bool is_dense : either)
            for (const bool is_other : either) {
                const std::int64_t stride = is_dense ? 1 : 3;
                for (const std::size_t bytes : {1, 2, 4, 8}) {
                    reductions.push_back({size, stride, bytes, is_other});
                    in_one_block.push_back({size, stride, bytes, is_other, false});
                }
                for (const std::size_t bytes : {4, 8})
                    for (const bool has_scratch : either)
                        scans.push_back(
                            {size, bytes, is_dense, is_other ? 1 : 0, is_dense && is_other, has_scratch});
                for (const std::int64_t bins : {1, 2, 10, 256, 257, 12288, 12289, 1 << 20})
                    for (const std::size_t bytes : {1, 4})
                        histograms.push_back({size, stride, bins, bytes, is_other ? 3 : 0});
                steps.push_back({is_dense ? 1 : 1000, size});
            }
    expect_rungs(reductions, reduce_algorithm::interleaved);
    expect_rungs(in_one_block, reduce_algorithm::single_pass);
    for (const std::vector<reduce_problem>* some : {&reductions, &in_one_block})
        for (const reduce_problem& each : *some)
            for (const reduce_operation operation : reduce_operations())
                EXPECT_EQ(why_not(operation, select(each, GetParam()), each, GetParam()), "");
    expect_rungs(scans, scan_algorithm::naive);
    expect_rungs(histograms, histogram_algorithm::naive);
    expect_rungs(steps, optimizer_algorithm::naive);
}

TEST_P(unlisted_device, runs_filters_of_images) {
    std::vector<gaussian_blur_problem> all, wide;
    const window_radius radii[] = {0, 1, {2, 5}, 5, 8, {16, 9}, 40, {255, 3}, 300, 1000, 1001, {2, 5000}};
    const matrix_shape sizes[] = {{1, 1}, {37, 5}, {129, 63}, {1920, 1080}, {4096, 4096}, {1 << 20, 3}};
    for (const auto& [width, height] : sizes)
        for (const window_radius& radius : radii)
            for (const pixel_type type : {pixel_type::u8, pixel_type::u16, pixel_type::f16, pixel_type::f32})
                for (const std::int64_t channels : {1, 2, 3, 4})
                    for (const bool is_other : either) {
                        const auto sigma = [](std::int64_t r) {
                            return std::max(0.5, static_cast<double>(r) / 3);
                        };
                        const bool is_wide = std::max(radius.x, radius.y) > 1000;
                        gaussian_blur_problem p{
                            width, height, channels, radius, {sigma(radius.x), sigma(radius.y)}, type};
                        p.images = is_other ? 7 : 1;
                        p.exact = p.in_words = p.in_vectors = is_other;
                        p.border = is_other ? border::wrap : border::reflect_101;
                        p.has_scratch = is_wide || is_other;
                        (is_wide ? wide : all).push_back(p);
                        const image_filter_problem box{width, height, channels, radius, type, p.images};
                        EXPECT_NO_THROW((void)image_filter_workspace_bytes(box, GetParam()));
                    }
    expect_rungs(all, gaussian_blur_algorithm::naive);
    expect_rungs(wide, gaussian_blur_algorithm::separable);
}

constexpr precision limits[] = {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32};

struct product_shape {
    std::int64_t m, n, k;
};
constexpr product_shape products[] = {
    {0, 4, 4},          {4, 4, 0},          {1, 1, 1},        {1, 1000, 1000},     {1000, 1, 999},
    {16, 16, 16},       {17, 33, 65},       {64, 4096, 4096}, {128, 128, 1 << 20}, {513, 515, 517},
    {1000, 1000, 1000}, {4096, 4096, 4096}, {100003, 7, 3},   {8192, 8, 8192},     {20000, 20000, 64},
};

template <class Out, class In>
void add(const product_shape& s, std::vector<matmul_problem>& all) {
    const matrix_view<const In> as[] = {{nullptr, s.m, s.k},
                                        {nullptr, s.m, s.k, 1, s.m},
                                        {nullptr, s.m, s.k, s.k + 3},
                                        {nullptr, s.m, s.k, 2 * s.k, 2}};
    for (const auto& a : as)
        for (const precision limit : limits)
            for (const bool is_aligned : either)
                for (const bool has_scratch : either)
                    for (const std::int64_t batches : {1, 5}) {
                        matmul_problem p = matmul_problem_of<Out, In>(
                            a, {nullptr, s.k, s.n}, {nullptr, s.m, s.n}, {.precision = limit});
                        if (!is_aligned)
                            for (matrix_layout* each : {&p.a, &p.b, &p.c})
                                each->alignment = each->element_bytes;
                        p.has_scratch = has_scratch;
                        p.batches = batches;
                        p.a_stride = batches > 1 ? 2 * s.m * (s.k + 3) : 0;
                        p.c_stride = batches > 1 ? s.m * s.n : 0;
                        all.push_back(p);
                        p.has_epilogue = p.adds_c = true;
                        all.push_back(p);
                    }
}

struct conv_shape {
    std::int64_t count, side, channels, outputs, filter;
    conv_geometry geometry{};
};
constexpr conv_padding one{1, 1, 1, 1};
const conv_shape convolutions[] = {
    {0, 8, 16, 16, 3},
    {1, 1, 1, 1, 1},
    {2, 7, 3, 4, 3, {.padding = one}},
    {1, 9, 16, 63, 1},
    {32, 224, 3, 64, 7, {.stride = {2, 2}, .padding = {3, 3, 3, 3}}},
    {32, 56, 64, 64, 3, {.padding = one}},
    {32, 56, 256, 512, 1, {.stride = {2, 2}}},
    {32, 14, 1024, 256, 1},
    {2, 30, 33, 129, 3, {.padding = one, .dilation = {2, 3}}},
    {2, 28, 128, 128, 3, {.padding = one, .groups = 32}},
    {2, 28, 96, 192, 3, {.groups = 3}},
    {32, 112, 96, 96, 3, {.padding = one, .groups = 96}},
    {1, 40, 5, 5, 11, {.groups = 5}},
    {1, 8, 0, 4, 3},
    {256, 7, 512, 2048, 1},
    {1, 2000, 1, 8, 5},
};

template <class Out, class In>
void add(const conv_shape& s, std::vector<conv_problem>& all) {
    const std::int64_t height = conv_output_height(s.side, s.filter, s.geometry);
    const std::int64_t width = conv_output_width(s.side, s.filter, s.geometry),
                       depth = s.channels / s.geometry.groups;
    for (const std::int64_t gap : {0, 3})
        for (const precision limit : limits)
            for (const bool is_aligned : either)
                for (const bool has_scratch : either) {
                    conv_problem p = conv_problem_of<Out, In>(
                        {nullptr, s.count, s.side, s.side, s.channels, s.channels + gap},
                        {nullptr, s.outputs, s.filter, s.filter, depth, depth + gap},
                        {nullptr, s.count, height, width, s.outputs, s.outputs + gap},
                        {.geometry = s.geometry, .precision = limit});
                    if (!is_aligned)
                        for (tensor_layout* each : {&p.input, &p.filters, &p.output})
                            each->alignment = each->element_bytes;
                    p.has_scratch = has_scratch;
                    all.push_back(p);
                    p.has_epilogue = true;
                    p.is_matmul_epilogue = is_aligned;
                    p.residual = p.output;
                    all.push_back(p);
                }
}

template <class T, class>
void add(const conv_shape& s, std::vector<pool_problem>& all) {
    const pool_geometry g{{s.filter, s.filter}, s.geometry.stride, s.geometry.padding};
    for (const std::int64_t gap : {0, 3})
        for (const auto mode : {pool_mode::max, pool_mode::average, pool_mode::padded_average})
            all.push_back(pool_problem_of<T>({nullptr, s.count, s.side, s.side, s.channels, s.channels + gap},
                                             {nullptr, s.count, pool_output_height(s.side, g),
                                              pool_output_width(s.side, g), s.channels, s.channels + gap},
                                             {.mode = mode, .geometry = g}));
}

template <class Problem>
std::vector<Problem> of_every_type(const auto& shapes) {
    std::vector<Problem> all;
    for (const auto& shape : shapes) {
        add<float, float>(shape, all);
        add<half, half>(shape, all);
        add<float, half>(shape, all);
        add<bfloat16, bfloat16>(shape, all);
        add<float, bfloat16>(shape, all);
    }
    return all;
}

TEST_P(unlisted_device, runs_products_of_matrices) {
    const auto all = of_every_type<matmul_problem>(products);
    expect_rungs(all, matmul_algorithm::naive);
    std::vector<linear_gradient_problem> gradients;
    for (const matmul_problem& product : all)
        if (product.batches == 1 && product.result == product.operands && !product.has_epilogue)
            for (const bool has_derivative : either) gradients.push_back({product, has_derivative});
    expect_rungs(gradients, linear_gradient_algorithm::separate);
}

TEST_P(unlisted_device, runs_convolutions_and_pools) {
    expect_rungs(of_every_type<conv_problem>(convolutions), conv_algorithm::naive);
    expect_rungs(of_every_type<pool_problem>(convolutions), pool_algorithm::naive);
}

INSTANTIATE_TEST_SUITE_P(, unlisted_device, testing::ValuesIn(devices),
                         [](const testing::TestParamInfo<device_traits>& tested) {
                             return tested.param.name;
                         });

}  // namespace
}  // namespace heddle
