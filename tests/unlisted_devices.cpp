#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

// Devices that heddle has no costs of have rungs that run. Those that Hopper alone has are not chosen there.
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

class unlisted_device : public testing::TestWithParam<device_traits> {
  protected:
    /// `automatic` finds a rung that runs, and `simplest` does as well.
    template <class Problem, class Algorithm>
    static void expect_rungs(const std::vector<Problem>& problems, Algorithm simplest) {
        EXPECT_GE(problems.size(), 12u);
        for (std::size_t i = 0; i < problems.size(); ++i) {
            SCOPED_TRACE("problem " + std::to_string(i));
            Algorithm chosen = Algorithm::automatic;
            ASSERT_NO_THROW(chosen = select(problems[i], GetParam()));
            ASSERT_NE(to_string(chosen), "automatic");
            ASSERT_EQ(why_not(chosen, problems[i], GetParam()), "");
            ASSERT_EQ(why_not(simplest, problems[i], GetParam()), "");
        }
    }
};

INSTANTIATE_TEST_SUITE_P(, unlisted_device,
                         testing::Values(described("B200", 100, 148, 2048, 228, 126),
                                         described("B300", 103, 148, 2048, 228, 126),
                                         described("RTX_5090", 120, 170, 1536, 100, 96),
                                         described("a_small_part", 120, 30, 1536, 100, 32)),
                         [](const auto& tested) { return tested.param.name; });

/// Each problem once more, changed.
template <class Problem, class Change>
void also(std::vector<Problem>& all, Change change) {
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
        Problem changed = all[i];
        change(changed);
        all.push_back(changed);
    }
}

constexpr auto without_scratch = [](auto& p) { p.has_scratch = false; };

constexpr std::int64_t many = (std::int64_t{1} << 32) + 1;
struct matrix_shape {
    std::int64_t rows, cols;
};
constexpr matrix_shape matrices[] = {{0, 0},         {0, 9},      {7, 0},    {1, 1},     {3, 5},
                                     {17, 33},       {64, 64},    {9, 1},    {1000, 3},  {4096, 4096},
                                     {100003, 12},   {4, 65536},  {16, 65537}, {2, 1 << 20}, {1 << 20, 8},
                                     {1, many},      {many, 1}};
template <class Problem>
std::vector<Problem> of_matrices() {
    std::vector<Problem> all;
    for (const auto& [rows, cols] : matrices) all.push_back({rows, cols});
    also(all, [](auto& p) { p.element_bytes = 2; });
    return all;
}

template <class Problem>
std::vector<Problem> of_rows() {
    std::vector<Problem> all = of_matrices<Problem>();
    for (Problem& p : all) p.in_packets = p.cols % 8 == 0;
    also(all, [](auto& p) { p.in_packets = false; });
    also(all, [](auto& p) { p.unit_stride = p.in_packets = false; });
    return all;
}

template <class Problem>
std::vector<Problem> of_rows_or_columns() {
    std::vector<Problem> all = of_rows<Problem>();
    also(all, [](auto& p) { p.x_in_columns = !p.unit_stride; });
    also(all, [](auto& p) { p.y_in_columns = !p.unit_stride; });
    return all;
}

TEST_P(unlisted_device, runs_operations_on_rows) {
    expect_rungs(of_rows<loss_problem>(), loss_algorithm::naive);
    expect_rungs(of_rows_or_columns<norm_problem>(), norm_algorithm::naive);
    expect_rungs(of_rows_or_columns<softmax_problem>(), softmax_algorithm::naive);
    expect_rungs(of_rows<softmax_gradient_problem>(), softmax_gradient_algorithm::naive);
    auto gradients = of_rows<norm_gradient_problem>();
    also(gradients, [](auto& p) { p.has_column_sums = p.has_scratch = false; });
    expect_rungs(gradients, norm_gradient_algorithm::naive);
}

TEST_P(unlisted_device, runs_what_is_element_by_element) {
    auto all = of_matrices<elementwise_problem>();
    also(all, [](auto& p) { p.element_bytes = 8; });
    also(all, [](auto& p) { p.inputs = 3; });
    also(all, [](auto& p) { p.broadcasts = 1, p.fills_packets = true; });
    also(all, [](auto& p) { p.lead = 1; });
    also(all, [](auto& p) { p.shifts_packets = p.element_bytes == 2; });
    also(all, [](auto& p) { p.in_packets = false; });
    also(all, [](auto& p) { p.is_crossed = !p.in_packets; });
    expect_rungs(all, elementwise_algorithm::naive);
    auto numbers = of_matrices<random_problem>();
    also(numbers, [](auto& p) { p.element_bytes = 1; });
    also(numbers, [](auto& p) { p.element_bytes = 8, p.block_elements = 2; });
    also(numbers, [](auto& p) { p.unit_stride = false; });
    also(numbers, [](auto& p) { p.is_crossed = !p.unit_stride; });
    expect_rungs(numbers, random_algorithm::naive);
}

TEST_P(unlisted_device, runs_transpositions_and_reductions_of_matrices) {
    auto all = of_matrices<transpose_problem>();
    also(all, [](auto& p) { p.element_bytes /= 2; });
    also(all, [](auto& p) { p.element_bytes = 8; });
    also(all, [](auto& p) { p.alignment = static_cast<int>(p.element_bytes); });
    also(all, [](auto& p) { p.is_copy = true; });
    also(all, [](auto& p) { p.unit_stride = false; });
    expect_rungs(all, transpose_algorithm::naive);
    auto reductions = of_matrices<matrix_reduce_problem>();
    also(reductions, [](auto& p) { p.row_stride += 8; });
    also(reductions, [](auto& p) { p.is_aligned = false; });
    also(reductions, [](auto& p) { p.row_stride *= 3, p.col_stride = 3; });
    also(reductions, [](auto& p) { std::swap(p.rows, p.cols), std::swap(p.row_stride, p.col_stride); });
    also(reductions, without_scratch);
    expect_rungs(reductions, matrix_reduce_algorithm::naive);
}

template <class Problem>
std::vector<Problem> of_vectors() {
    std::vector<Problem> all;
    for (const std::int64_t size : {0, 1, 31, 1000, 2049, 1 << 20, 100000007}) all.push_back({size});
    all.push_back({many});
    return all;
}

TEST_P(unlisted_device, runs_reductions_and_scans) {
    auto all = of_vectors<reduce_problem>();
    for (const std::size_t bytes : {1, 2, 8}) also(all, [=](auto& p) { p.element_bytes = bytes; });
    also(all, [](auto& p) { p.stride = 3; });
    also(all, [](auto& p) { p.y_is_alike = false; });
    expect_rungs(all, reduce_algorithm::interleaved);
    also(all, without_scratch);
    expect_rungs(all, reduce_algorithm::single_pass);
    for (const reduce_problem& p : all)
        for (const reduce_operation operation : reduce_operations())
            ASSERT_EQ(why_not(operation, select(p, GetParam()), p, GetParam()), "") << to_string(operation);
    auto scans = of_vectors<scan_problem>();
    also(scans, [](auto& p) { p.element_bytes = 8; });
    also(scans, [](auto& p) { p.misalignment = 1; });
    also(scans, [](auto& p) { p.x_is_alike = false; });
    also(scans, [](auto& p) { p.unit_stride = p.x_is_alike = false; });
    also(scans, without_scratch);
    expect_rungs(scans, scan_algorithm::naive);
}

TEST_P(unlisted_device, runs_histograms_and_optimizers) {
    auto all = of_vectors<histogram_problem>();
    also(all, [](auto& p) { p.element_bytes = 4; });
    also(all, [](auto& p) { p.head = 3; });
    also(all, [](auto& p) { p.stride = 3; });
    for (const std::int64_t bins : {1, 10, 257, 12288, 12289, 1 << 20}) also(all, [=](auto& p) { p.bins = bins; });
    expect_rungs(all, histogram_algorithm::naive);
    std::vector<optimizer_problem> lists;
    for (const std::int64_t parameters : {0, 1, 512, 513})
        for (const std::int64_t elements : {0, 1, 1000003, 1 << 30}) lists.push_back({parameters, elements});
    expect_rungs(lists, optimizer_algorithm::naive);
}

TEST_P(unlisted_device, runs_filters_of_images) {
    const auto of_radii = [](const std::vector<window_radius>& radii) {
        const auto sigma = [](std::int64_t radius) { return std::max(0.5, static_cast<double>(radius) / 3); };
        std::vector<gaussian_blur_problem> all;
        for (const auto& [width, height] : {matrix_shape{1, 1}, {37, 5}, {1920, 1080}, {4096, 4096}, {1 << 20, 3}})
            for (const window_radius& r : radii)
                for (const std::int64_t channels : {1, 2, 3, 4})
                    all.push_back({width, height, channels, r, {sigma(r.x), sigma(r.y)}, pixel_type::u8});
        for (const auto type : {pixel_type::u16, pixel_type::f16, pixel_type::f32})
            also(all, [=](auto& p) { p.type = type; });
        also(all, [](auto& p) { p.images = 7, p.exact = true; });
        also(all, [](auto& p) { p.in_vectors = p.in_words = false, p.border = border::wrap; });
        for (const gaussian_blur_problem& p : all)
            EXPECT_NO_THROW((void)image_filter_workspace_bytes(
                {p.width, p.height, p.channels, p.radius, p.type, p.images}, GetParam()));
        return all;
    };
    auto all = of_radii({0, 1, {2, 5}, 5, 8, {16, 9}, 40, {255, 3}, 300, 1000});
    also(all, without_scratch);
    expect_rungs(all, gaussian_blur_algorithm::naive);
    expect_rungs(of_radii({1001, {2, 5000}}), gaussian_blur_algorithm::separable);
}
