// One rule for every call: it works on its stream's device, whichever is current. The CUDA runtime is a recording one of two
// devices, so this runs without a GPU; tests/devices.cpp runs the same calls on all devices that there are.
#include "tests/support/recording_runtime.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/error.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/histogram.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/matmul.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/norm.hpp>
#include <heddle/reduce.hpp>
#include <heddle/scan.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>
#include <heddle/workspace.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using test::recording_runtime;

constexpr std::int64_t side = 256;

/// Memory that nothing reads or writes.
template <class T>
T* memory() {
    alignas(256) static unsigned char bytes[side * side * sizeof(T)];
    return reinterpret_cast<T*>(bytes);
}

template <class T>
matrix_view<T> matrix(std::int64_t place = 0, std::int64_t rows = 128) {
    return {memory<T>() + place * 128 * 128, rows, 128};
}
template <class T>
vector_view<T> vector(std::int64_t place = 0) {
    return {memory<T>() + place * 128 * 128, 128 * 128};
}
template <class T>
image_view<T> image(std::int64_t place) {
    return {memory<T>() + place * 128 * 128, 128, 128};
}

using call = std::function<void(cuda::stream_ref)>;

/// A call of each operation, of each wrapper that enqueues, and of those that take scratch memory themselves.
std::vector<std::pair<std::string, call>> calls() {
    const auto a = matrix<float>(0), b = matrix<float>(1), c = matrix<float>(2);
    const auto x = vector<float>(0), y = vector<float>(1);
    const auto of_matrix = vector_view<float>{y.data, 128};
    const auto half_a = matrix<half>(0), half_b = matrix<half>(1), half_c = matrix<half>(2);
    const vector_view<std::int64_t> counts{memory<std::int64_t>(), 256};
    float* const result = y.data;
    return {
        {"sigmoid", [=](auto s) { sigmoid<float>(x, y, s); }},
        {"sum", [=](auto s) { sum<float>(x, result, s); }},
        {"dot", [=](auto s) { dot<float>(x, x, result, s); }},
        {"row_sum", [=](auto s) { row_sum<float>(a, of_matrix, s); }},
        {"column_variance", [=](auto s) { column_variance<float>(a, of_matrix, s); }},
        {"softmax", [=](auto s) { softmax<float>(a, b, s); }},
        {"rms_norm",
         [=](auto s) {
             rms_norm<float>(a, {c.data, 128}, b, s);
         }},
        {"transpose", [=](auto s) { transpose<float>(a, b, s); }},
        {"inclusive_scan", [=](auto s) { inclusive_scan<float>(x, y, s); }},
        {"histogram",
         [=](auto s) {
             histogram({memory<std::uint8_t>(), 4096}, counts, s);
         }},
        {"matmul", [=](auto s) { matmul<float>(a, b, c, s); }},
        {"matmul of half", [=](auto s) { matmul<half>(half_a, half_b, half_c, s); }},
        {"matmul with an epilogue",
         [=](auto s) { matmul<half>(half_a, half_b, half_c, {matmul_activation::relu}, s); }},
        {"batched_matmul",
         [=](auto s) {
             batched_matmul<half>({half_a, 2}, {half_b, 2}, {half_c, 2, 128 * 128}, s);
         }},
        {"batched_matmul of a list",
         [=](auto s) {
             const std::vector<matmul_operands<half>> products{{half_a, half_b, half_c}};
             batched_matmul<half>(products, s);
         }},
        {"gaussian_blur", [=](auto s) { gaussian_blur<float>(image<float>(0), image<float>(1), 2.0, s); }},
        {"gaussian_blur of bytes",
         [=](auto s) {
             gaussian_blur<std::uint8_t>(image<std::uint8_t>(0), image<std::uint8_t>(1), 2.0, s);
         }},
        {"gaussian_blur with scratch memory",
         [=](auto s) {
             gaussian_blur<float>(image<float>(0), image<float>(1), 2.0, s,
                                  {.algorithm = gaussian_blur_algorithm::separable});
         }},
        {"box_blur", [=](auto s) { box_blur<float>(image<float>(0), image<float>(1), 2, s); }},
        {"sobel", [=](auto s) { sobel<float>(image<float>(0), image<float>(1), gradient::magnitude, s); }},
        {"copy", [=](auto s) { copy(x, y, s); }},
        {"copy of rows",
         [=](auto s) {
             copy(matrix_view{a.data, 8, 8, 16}, matrix_view{b.data, 8, 8, 32}, s);
         }},
        {"copy_and_wait", [=](auto s) { copy_and_wait(x, y, s); }},
        {"fill_zero", [=](auto s) { fill_zero(x, s); }},
        {"workspace", [](auto s) { workspace(1 << 20, s); }},
        {"device_buffer", [](auto s) { device_buffer<float>(1 << 20, s); }},
        {"event", [](auto s) { event().record(s); }},
    };
}

class stream_device : public testing::TestWithParam<std::pair<std::string, call>> {
  protected:
    recording_runtime& runtime = recording_runtime::instance();

    void SetUp() override {
        runtime.current = 0;
        runtime.calls.clear();
        runtime.status_of_launches = cudaSuccess;
    }
};

TEST_P(stream_device, is_where_a_call_works) {
    for (const int device : {0, 1})
        for (const int current : {0, 1}) {
            runtime.current = current;
            runtime.calls.clear();
            const cudaStream_t stream = recording_runtime::stream_of(device);
            GetParam().second(cuda::stream_ref{stream});
            EXPECT_EQ(runtime.current, current) << "left as it was";
            int enqueued = 0;
            for (const auto& each : runtime.calls) {
                if (each.stream == nullptr && each.function != "cudaFuncSetAttribute") continue;
                EXPECT_EQ(each.current, device) << each.function;
                if (each.stream == nullptr) continue;
                EXPECT_EQ(each.stream, stream) << each.function;
                ++enqueued;
            }
            EXPECT_GT(enqueued, 0);
        }
}

TEST_P(stream_device, is_the_current_one_for_the_default_streams) {
    for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
        runtime.current = 1;
        runtime.calls.clear();
        GetParam().second(cuda::stream_ref{stream});
        EXPECT_EQ(runtime.current, 1);
        ASSERT_FALSE(runtime.calls.empty());
        for (const auto& each : runtime.calls) EXPECT_EQ(each.current, 1) << each.function;
    }
}

TEST_P(stream_device, is_left_also_where_the_launch_fails) {
    runtime.status_of_launches = cudaErrorInvalidConfiguration;
    try {
        GetParam().second(cuda::stream_ref{recording_runtime::stream_of(1)});
    } catch (const cuda_error& error) {
        EXPECT_EQ(error.status(), cudaErrorInvalidConfiguration);
    }
    EXPECT_EQ(runtime.current, 0);
}

INSTANTIATE_TEST_SUITE_P(calls, stream_device, testing::ValuesIn(calls()), [](const auto& each) {
    std::string name = each.param.first;
    for (char& letter : name)
        if (letter == ' ') letter = '_';
    return name;
});

/// The grid of a large sum grows with the number of multiprocessors.
TEST(stream_device_traits, are_what_a_call_plans_with) {
    recording_runtime& runtime = recording_runtime::instance();
    const vector_view<const float> x{memory<float>(), side * side};
    const auto blocks_of = [&](int current, int device) {
        runtime.current = current;
        runtime.calls.clear();
        sum<float>(x, memory<float>() + side * side - 1,
                   cuda::stream_ref{recording_runtime::stream_of(device)});
        unsigned blocks = 0;
        for (const auto& each : runtime.calls)
            if (each.function == "launch") blocks = each.blocks.x;
        return blocks;
    };
    EXPECT_NE(blocks_of(0, 0), blocks_of(0, 1));
    EXPECT_EQ(blocks_of(0, 1), blocks_of(1, 1));
}

TEST(stream_device_traits, are_what_workspaces_are_for) {
    recording_runtime::instance().current = 0;
    const cuda::stream_ref small{recording_runtime::stream_of(1)};
    const device_traits& device = traits_of(1);
    const vector_view<const float> x = vector<float>();
    const matrix_view<const float> m = matrix<float>();
    EXPECT_EQ(reduce_workspace_bytes<float>(x, small), reduce_workspace_bytes({.size = x.size}, device));
    EXPECT_NE(reduce_workspace_bytes<float>(x, small),
              reduce_workspace_bytes({.size = x.size}, traits_of(0)));
    EXPECT_EQ(scan_workspace_bytes<float>(x, small), scan_workspace_bytes({.size = x.size}, device));
    EXPECT_EQ(matrix_reduce_workspace_bytes<float>(m, small),
              std::max(matrix_reduce_workspace_bytes(row_problem(m), device),
                       matrix_reduce_workspace_bytes(column_problem(m), device)));
    EXPECT_EQ(matmul_workspace_bytes<float>(m, m, matrix<float>(2), small),
              matmul_workspace_bytes({128, 128, 128}, device));
    const auto half_a = matrix<half>(0), half_c = matrix<half>(2);
    EXPECT_GE(matmul_workspace_bytes<half>(half_a, half_a, half_c, {matmul_activation::relu}, small), 0);
    EXPECT_GE(batched_matmul_workspace_bytes<half>({half_a, 2}, {half_a, 2}, {half_c, 2, 128 * 128}, small),
              0);
    const auto separable = gaussian_blur_algorithm::separable;
    EXPECT_GT(gaussian_blur_workspace_bytes<float>(image<float>(0), image<float>(1), 2.0, small,
                                                   {.algorithm = separable}),
              128 * 128 * 4);
    EXPECT_EQ(box_blur_workspace_bytes<float>(image_batch_view<const float>{image<float>(0)},
                                              image_batch_view<float>{image<float>(1)}, 2, small),
              0);
}

TEST(event_of_a_device, follows_the_stream_that_it_is_recorded_on) {
    recording_runtime& runtime = recording_runtime::instance();
    runtime.current = 0;
    event mark;
    const cudaEvent_t first = mark.get();
    mark.record(cuda::stream_ref{recording_runtime::stream_of(0)});
    EXPECT_EQ(mark.get(), first);
    mark.record(cuda::stream_ref{recording_runtime::stream_of(1)});
    EXPECT_NE(mark.get(), first);
    const cudaEvent_t second = mark.get();
    mark.record(cuda::stream_ref{recording_runtime::stream_of(1)});
    EXPECT_EQ(mark.get(), second);
}

}  // namespace
}  // namespace heddle
