// One rule for every call: it works on its stream's device, for any current device. The recording CUDA runtime has
// two devices, so this runs without a GPU; tests/devices.cu makes the same calls on all devices that exist.
#include "tests/support/calls.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/recording_runtime.hpp"

namespace heddle::test {
namespace {

/// Memory that nothing reads or writes.
operand_memory memory() {
    alignas(256) static std::byte bytes[operand_memory::bytes];
    return {bytes};
}

class stream_device : public testing::TestWithParam<named_call> {
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
            GetParam().run(memory(), cuda::stream_ref{stream});
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
        GetParam().run(memory(), cuda::stream_ref{stream});
        EXPECT_EQ(runtime.current, 1);
        ASSERT_FALSE(runtime.calls.empty());
        for (const auto& each : runtime.calls) EXPECT_EQ(each.current, 1) << each.function;
    }
}

TEST_P(stream_device, is_left_also_where_the_launch_fails) {
    runtime.status_of_launches = cudaErrorInvalidConfiguration;
    runtime.refused = 0;
    cudaError_t thrown = cudaSuccess;
    try {
        GetParam().run(memory(), cuda::stream_ref{recording_runtime::stream_of(1)});
    } catch (const cuda_error& error) {
        thrown = error.status();
    }
    EXPECT_EQ(thrown, runtime.refused > 0 ? cudaErrorInvalidConfiguration : cudaSuccess);
    EXPECT_LE(runtime.refused, 1) << "what comes after a launch that failed";
    EXPECT_EQ(runtime.current, 0);
}

INSTANTIATE_TEST_SUITE_P(calls, stream_device, testing::ValuesIn(calls_of_all_kinds()),
                         [](const auto& each) { return each.param.name; });

/// A grid that fills the device with threads grows with the number of multiprocessors.
TEST(stream_device_traits, are_what_a_call_plans_with) {
    recording_runtime& runtime = recording_runtime::instance();
    const vector_view<float> x{memory().at<float>(0), std::int64_t{1} << 30};
    const auto blocks_of = [&](int current, int device) {
        runtime.current = current;
        runtime.calls.clear();
        sigmoid<float>(x, x, cuda::stream_ref{recording_runtime::stream_of(device)},
                       {.algorithm = elementwise_algorithm::grid_stride});
        unsigned blocks = 0;
        for (const auto& each : runtime.calls) blocks = std::max(blocks, each.blocks.x);
        return blocks;
    };
    EXPECT_GT(blocks_of(0, 0), blocks_of(0, 1));
    EXPECT_EQ(blocks_of(0, 1), blocks_of(1, 1));
}

TEST(stream_device_traits, are_what_workspaces_are_for) {
    recording_runtime::instance().current = 0;
    const cuda::stream_ref stream{recording_runtime::stream_of(1)};
    const device_traits& device = traits_of(1);
    const operand_memory m = memory();
    const vector_view<const float> x = m.vector<float>(0);
    const matrix_view<const float> wide{m.at<float>(0), 2, operand_memory::size / 2};
    const matrix_view<const float> a = m.matrix<float>(0);
    EXPECT_EQ(reduce_workspace_bytes<float>(x, stream, {.algorithm = reduce_algorithm::vectorized}),
              reduce_workspace_bytes({.x = {x.size}}, device, reduce_algorithm::vectorized));
    EXPECT_EQ(scan_workspace_bytes<float>(x, stream), scan_workspace_bytes({{x.size}, {x.size}}, device));
    EXPECT_EQ(matrix_reduce_workspace_bytes<float>(wide, stream),
              std::max(matrix_reduce_workspace_bytes(row_problem(wide), device),
                       matrix_reduce_workspace_bytes(column_problem(wide), device)));
    EXPECT_EQ(matmul_workspace_bytes<float>(a, a, m.matrix<float>(2), stream),
              matmul_workspace_bytes(matmul_problem_of<float>(a, a, m.matrix<float>(2)), device));
    EXPECT_EQ(gaussian_blur_workspace_bytes<float>(m.image<float>(0), m.image<float>(2), 2.0, stream),
              gaussian_blur_workspace_bytes(
                  gaussian_blur_problem_of<float>(m.image<float>(0), m.image<float>(2), 2.0), device));
}

/// A workspace of `bytes` is enough for the call, and a smaller one is refused by the operation of this name.
template <class Call>
void expect_enough(const std::string& name, std::int64_t bytes, Call call) {
    ASSERT_GT(bytes, 0);
    auto* const scratch = std::bit_cast<std::byte*>(std::uintptr_t{1} << 50);
    const auto size = static_cast<std::size_t>(bytes);
    EXPECT_NO_THROW(call(std::span(scratch, size)));
    expect_error(
        fmt::format("{}: options.workspace is {}, expected at least {} bytes", name, bytes - 1, bytes),
        [&] { call(std::span(scratch, size - 1)); });
}

class workspace_bytes : public testing::Test {
  protected:
    recording_runtime& runtime = recording_runtime::instance();
    const cuda::stream_ref s{recording_runtime::stream_of(1)};

    void SetUp() override {
        runtime.current = 0;
        runtime.status_of_launches = cudaSuccess;
    }

    template <class T>
    void check_sums_of() {
        const vector_view<const T> x{far_address<T>(0), std::int64_t{1} << 24};
        auto* const result = far_address<sum_type<T>>(1);
        for (const reduce_algorithm each : with_automatic(reduce_algorithms())) {
            expect_enough("sum", reduce_workspace_bytes<T>(x, s, {.algorithm = each}), [&](auto scratch) {
                sum<T>(x, result, s, {.algorithm = each, .workspace = scratch});
            });
            // An empty workspace has no address to be misaligned.
            runtime.calls.clear();
            sum<T>(x, result, s, {each, {std::bit_cast<std::byte*>(std::uintptr_t{1}), 0}});
            EXPECT_GT(runtime.count("cudaMallocFromPoolAsync"), 0);
        }
    }
    template <class T>
    void check_scans_of() {
        const vector_view<const T> x{far_address<T>(0), std::int64_t{1} << 24};
        for (const auto each :
             {scan_algorithm::reduce_then_scan, scan_algorithm::look_back, scan_algorithm::automatic})
            expect_enough("inclusive_scan", scan_workspace_bytes<T>(x, s, {.algorithm = each}),
                          [&](auto scratch) {
                              inclusive_scan<T>(x, {far_address<T>(1), x.size}, s,
                                                {.algorithm = each, .workspace = scratch});
                          });
    }
    template <class T>
    void check_rows_of() {
        const matrix_view<const T> wide{far_address<T>(0), 2, std::int64_t{1} << 24};
        const vector_view<float> y{far_address<float>(1), 2};
        const std::int64_t bytes = matrix_reduce_workspace_bytes<T>(wide, s);
        expect_enough("row_sum", bytes,
                      [&](auto scratch) { row_sum<T>(wide, y, s, {.workspace = scratch}); });
        expect_enough("column_sum", bytes,
                      [&](auto scratch) { column_sum<T>(transposed(wide), y, s, {.workspace = scratch}); });
    }
};

TEST_F(workspace_bytes, are_what_reductions_and_scans_take) {
    check_sums_of<double>(), check_sums_of<float>(), check_sums_of<half>(), check_sums_of<bfloat16>();
    check_sums_of<std::int32_t>(), check_sums_of<std::int64_t>();
    check_scans_of<double>(), check_scans_of<float>();
    check_scans_of<std::int32_t>(), check_scans_of<std::int64_t>();
    check_rows_of<float>(), check_rows_of<half>(), check_rows_of<bfloat16>();
}

TEST_F(workspace_bytes, are_what_calls_take) {
    const operand_memory m = memory();
    const matrix_view<const half> a{far_address<half>(0), 64, 1 << 16}, b{far_address<half>(1), 1 << 16, 64};
    const matrix_view<half> c{m.at<half>(2), 64, 64};
    constexpr bool has_stream_k = HEDDLE_COMPILED_FOR_90 != 0;
    const matmul_options stream_k{.algorithm = matmul_algorithm::stream_k};
    if (has_stream_k)
        expect_enough("matmul", matmul_workspace_bytes<half>(a, b, c, s, stream_k), [&](auto scratch) {
            matmul<half>(a, b, c, s, {.algorithm = stream_k.algorithm, .workspace = scratch});
        });
    const std::vector<matmul_operands<half>> products{{a, b, c}};
    if (has_stream_k)
        expect_enough(
            "matmul", batched_matmul_workspace_bytes<half>(products, s, stream_k), [&](auto scratch) {
                batched_matmul<half>(products, s, {.algorithm = stream_k.algorithm, .workspace = scratch});
            });
    const gaussian_blur_options separable{.algorithm = gaussian_blur_algorithm::separable};
    expect_enough(
        "gaussian_blur",
        gaussian_blur_workspace_bytes<float>(m.image<float>(0), m.image<float>(2), 2.0, s, separable),
        [&](auto scratch) {
            gaussian_blur<float>(m.image<float>(0), m.image<float>(2), 2.0, s,
                                 {.algorithm = separable.algorithm, .workspace = scratch});
        });
    const image_batch_view<const float> from{m.image<float>(0)};
    const image_batch_view<float> to{m.image<float>(2)};
    constexpr std::int64_t radius = 300;
    expect_enough("box_blur", box_blur_workspace_bytes<float>(from, to, radius, s),
                  [&](auto scratch) { box_blur<float>(from, to, radius, s, {.workspace = scratch}); });
    const std::vector<float> taps(2 * radius + 1, 1.0f);
    expect_enough(
        "separable_convolution", separable_convolution_workspace_bytes(from, to, taps, taps, s),
        [&](auto scratch) { separable_convolution(from, to, taps, taps, s, {.workspace = scratch}); });
    const tensor_view<const half> input{m.at<half>(0), 2, 8, 8, 8};
    const filter_view<const half> filters{m.at<half>(1), 16, 3, 3, 8};
    const tensor_view<half> output{m.at<half>(2), 2, 6, 6, 16};
    const conv_options im2col{.algorithm = conv_algorithm::im2col};
    for (const auto activation : {matmul_activation::none, matmul_activation::relu})
        expect_enough(
            "conv", conv_workspace_bytes<half>(input, filters, output, {.activation = activation}, s, im2col),
            [&](auto scratch) {
                conv<half>(input, filters, output, {.activation = activation}, s,
                           {.algorithm = im2col.algorithm, .workspace = scratch});
            });
}

/// Products in a call take no memory of their own. There are two groups of windows, two products, and a storing kernel.
TEST(windows_in_a_workspace, are_all_the_memory_of_a_convolution) {
    recording_runtime& runtime = recording_runtime::instance();
    runtime.current = 0;
    runtime.status_of_launches = cudaSuccess;
    const cuda::stream_ref s{recording_runtime::stream_of(1)};
    const tensor_view<const float> input{far_address<float>(0), 2, 33, 33, 6};
    const filter_view<const float> filters{far_address<float>(1), 130, 3, 3, 3};
    const tensor_view<float> output{const_cast<float*>(far_address<float>(2)), 2, 31, 31, 130};
    const vector_view<const float> of_channels{far_address<float>(3), 130};
    const conv_epilogue<float> relu{.activation = matmul_activation::relu},
        scaled_relu{.activation = matmul_activation::relu, .scale = of_channels};
    // Each group is copied and multiplied. Where the product lacks the epilogue, one more launch stores the sums.
    for (const auto& [epilogue, launches] : {std::pair{relu, 4}, {scaled_relu, 5}}) {
        conv_options options{.geometry = {.groups = 2}, .algorithm = conv_algorithm::im2col};
        const auto bytes = static_cast<std::size_t>(
            conv_workspace_bytes<float>(input, filters, output, epilogue, s, options));
        options.workspace = {std::bit_cast<std::byte*>(std::uintptr_t{1} << 50), bytes};
        runtime.calls.clear();
        conv<float>(input, filters, output, epilogue, s, options);
        EXPECT_EQ(runtime.count("launch"), launches);
        EXPECT_EQ(std::ranges::count(runtime.calls, s.get(), &recording_runtime::call::stream), launches);

        options.workspace = {};
        runtime.calls.clear();
        conv<float>(input, filters, output, epilogue, s, options);
        EXPECT_EQ(runtime.count("cudaMallocFromPoolAsync"), 1);
        EXPECT_EQ(runtime.count("cudaMemsetAsync"), 0) << "of tickets, which it has none of";
        EXPECT_EQ(runtime.count("launch"), launches);
    }
}

/// Windows of one tap at every pixel are the input itself.
TEST(windows_in_a_workspace, are_not_copied_where_they_are_pixels) {
    recording_runtime& runtime = recording_runtime::instance();
    runtime.current = 0;
    runtime.status_of_launches = cudaSuccess;
    runtime.calls.clear();
    const cuda::stream_ref s{recording_runtime::stream_of(0)};
    conv<float>({far_address<float>(0), 2, 33, 33, 6}, {far_address<float>(1), 130, 1, 1, 6},
                tensor_view<float>{const_cast<float*>(far_address<float>(2)), 2, 33, 33, 130}, s,
                {.algorithm = conv_algorithm::im2col, .scratch = scratch::none});
    EXPECT_EQ(runtime.count("launch"), 1);
}

/// A default stream is another stream on each device.
TEST(buffer_of_a_device, is_given_back_there) {
    recording_runtime& runtime = recording_runtime::instance();
    for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamPerThread, recording_runtime::stream_of(1)}) {
        runtime.current = 1;
        {
            const device_buffer<float> first(100, cuda::stream_ref{stream});
            device_buffer<float> second(100, cuda::stream_ref{stream});
            second = device_buffer<float>(200, cuda::stream_ref{stream});
            runtime.current = 0;
            runtime.calls.clear();
        }
        ASSERT_EQ(runtime.calls.size(), 2u);
        for (const auto& each : runtime.calls) {
            EXPECT_EQ(each.function, "cudaFreeAsync");
            EXPECT_EQ(each.current, 1);
        }
        EXPECT_EQ(runtime.current, 0);
    }
}

TEST(graph_of_a_device, is_launched_there) {
    recording_runtime& runtime = recording_runtime::instance();
    runtime.current = 0;
    runtime.calls.clear();
    const cuda::stream_ref stream{recording_runtime::stream_of(1)};
    const graph recorded = graph::capture(stream, [] {});
    recorded.launch(stream);
    ASSERT_EQ(runtime.calls.size(), 1u);
    EXPECT_EQ(runtime.calls[0].function, "cudaGraphLaunch");
    EXPECT_EQ(runtime.calls[0].current, 1);
    EXPECT_EQ(runtime.current, 0);
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
}  // namespace heddle::test
