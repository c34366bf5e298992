#include "tests/support/headers.hpp"
#include "tests/support/plain_calls.hpp"
#include "tests/support/recording_runtime.hpp"

// The source of a call's scratch memory, and the behaviour where there is none.
namespace heddle::test {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 24;

/// Which kernels products of float take depends on the build.
std::vector<plain_call> calls() {
    std::vector<plain_call> all = plain_calls();
    std::erase_if(all, [](const plain_call& each) { return each.name.starts_with("matmul"); });
    if (HEDDLE_COMPILED_FOR_90 != 0)
        all.push_back({"matmul_of_half", 64 * 64, [](const auto&, cuda::stream_ref s, auto, scratch memory) {
                           matmul<half>({far_address<half>(0), 64, many}, {far_address<half>(1), many, 64},
                                        {far_address<half>(2), 64, 64}, s,
                                        {.algorithm = matmul_algorithm::skinny, .scratch = memory});
                       }});
    return all;
}

class call_memory : public testing::TestWithParam<plain_call> {
  protected:
    recording_runtime& runtime = recording_runtime::instance();

    void SetUp() override { runtime = {}; }

    static bool has_tickets() { return !GetParam().name.ends_with("blur"); }

    /// A stream that no call has used.
    static cuda::stream_ref new_stream(int device) {
        static int number = 0;
        return cuda::stream_ref{recording_runtime::stream_of(device, ++number)};
    }
    /// The numbers of a call's allocations, memsets and launches.
    struct counts {
        std::ptrdiff_t allocated, set, launched;
        bool operator==(const counts&) const = default;
    };
    counts run(cuda::stream_ref stream, scratch memory = scratch::pool) {
        runtime.calls.clear();
        GetParam().run({far_address<float>(0), far_address<float>(1), far_address<float>(2)}, stream, {},
                       memory);
        EXPECT_EQ(runtime.count("cudaMallocAsync"), 0) << "of the default pool";
        return {runtime.count("cudaMallocFromPoolAsync"), runtime.count("cudaMemsetAsync"),
                runtime.count("launch")};
    }
};

INSTANTIATE_TEST_SUITE_P(of, call_memory, testing::ValuesIn(calls()),
                         [](const auto& each) { return each.param.name; });

TEST_P(call_memory, is_one_allocation_on_a_stream_that_has_tickets) {
    const cuda::stream_ref stream = new_stream(0);
    run(stream);
    runtime.are_events_done = false;
    const counts again = run(stream);
    EXPECT_EQ(again.allocated, 1);
    EXPECT_EQ(again.set, 0);
    EXPECT_EQ(runtime.count("cudaFreeAsync"), 1);
    EXPECT_EQ(runtime.count("cudaEventRecord"), has_tickets() ? 1 : 0);
}

/// Tickets are lent to another stream when their last use is done, and never to another device.
TEST_P(call_memory, has_tickets_that_no_other_call_uses) {
    const int own = has_tickets() ? 1 : 0;
    runtime.are_events_done = false;
    for (const int device : {0, 0, 1}) EXPECT_EQ(run(new_stream(device)).set, own);
    runtime.are_events_done = true;
    for (const int device : {0, 0, 1}) EXPECT_EQ(run(new_stream(device)).set, 0);
    EXPECT_EQ(run(cuda::stream_ref{cudaStreamLegacy}).set, 0);
    EXPECT_EQ(run(cuda::stream_ref{cudaStreamPerThread}).set, 0);
}

TEST_P(call_memory, is_of_a_graph_where_the_stream_is_captured) {
    const cuda::stream_ref stream = new_stream(0);
    run(stream);
    runtime.is_capturing = true;
    const counts captured = run(stream);
    EXPECT_EQ(captured.allocated, 1);
    EXPECT_EQ(captured.set, has_tickets() ? 1 : 0);
    EXPECT_EQ(runtime.count("cudaFreeAsync"), 1);
    EXPECT_EQ(runtime.count("cudaEventRecord"), 0);
}

TEST_P(call_memory, is_given_back_where_the_launch_fails) {
    const cuda::stream_ref stream = new_stream(0);
    run(stream);
    runtime.status_of_launches = cudaErrorInvalidConfiguration;
    EXPECT_THROW(run(stream), cuda_error);
    EXPECT_EQ(runtime.count("cudaFreeAsync"), runtime.count("cudaMallocFromPoolAsync"));
    runtime.status_of_launches = cudaSuccess;
    EXPECT_EQ(run(stream).set, 0);
}

TEST_P(call_memory, is_done_without) {
    const cuda::stream_ref stream = new_stream(0);
    const counts without = run(stream, scratch::none);
    EXPECT_EQ(without.allocated, 0);
    EXPECT_EQ(without.set, 0);
    EXPECT_GT(without.launched, 0);

    runtime.has_pool_memory = false;
    EXPECT_EQ(run(stream), without);
}

TEST_P(call_memory, has_to_be_of_a_known_kind) {
    EXPECT_THROW(run(new_stream(0), static_cast<scratch>(7)), invalid_argument);
    EXPECT_EQ(runtime.count("launch"), 0);
}

/// No other rung replaces a requested one.
TEST(call_memory_of_a_rung, is_missed) {
    recording_runtime& runtime = recording_runtime::instance();
    runtime = {};
    const cuda::stream_ref s{recording_runtime::stream_of(0)};
    const auto blur = [&](scratch memory) {
        gaussian_blur<float>(image_view<const float>{far_address<float>(0), 100, 100},
                             image_view<float>{far_address<float>(2), 100, 100}, 2.0, s,
                             {.algorithm = gaussian_blur_algorithm::separable, .scratch = memory});
    };
    const auto scan = [&](scratch memory) {
        inclusive_scan<float>({far_address<float>(0), many}, {far_address<float>(2), many}, s,
                              {.algorithm = scan_algorithm::look_back, .scratch = memory});
    };
    const auto reduce = [&](scratch memory) {
        sum<float>({far_address<float>(0), many}, far_address<float>(2), s,
                   {.algorithm = reduce_algorithm::warp_shuffle, .scratch = memory});
    };
    const auto wide_blur = [&](scratch memory) {  // no rung runs it without scratch memory
        gaussian_blur<float>(image_view<const float>{far_address<float>(0), 100, 100},
                             image_view<float>{far_address<float>(2), 100, 100}, 2000.0, s,
                             {.exact = true, .scratch = memory});
    };
    const auto windows = [&](scratch memory) {
        conv<float>({far_address<float>(0), 1, 30, 30, 8}, {far_address<float>(1), 16, 3, 3, 8},
                    tensor_view<float>{far_address<float>(2), 1, 28, 28, 16}, s,
                    {.algorithm = conv_algorithm::im2col, .scratch = memory});
    };
    const std::vector<std::function<void(scratch)>> all{blur, scan, reduce, wide_blur, windows};
    for (const auto& call : all) {
        runtime.has_pool_memory = true;
        EXPECT_NO_THROW(call(scratch::pool));
        runtime.calls.clear();
        EXPECT_THROW(call(scratch::none), unsupported);
        runtime.has_pool_memory = false;
        EXPECT_THROW(call(scratch::pool), cuda_error);
        EXPECT_EQ(runtime.count("launch"), 0);
    }
}

}  // namespace
}  // namespace heddle::test
