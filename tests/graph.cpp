#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

static_assert(!std::is_copy_constructible_v<graph> && !std::is_default_constructible_v<graph>);
static_assert(std::is_nothrow_move_constructible_v<graph> && std::is_nothrow_move_assignable_v<graph>);

constexpr std::int64_t size = 1000;

bool is_capturing(const stream& s) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(s.get(), &status));
    return status != cudaStreamCaptureStatusNone;
}

class graph_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!is_set_up()) return;
        source = pinned_buffer<int>(size);
        result = pinned_buffer<int>(size);
        fill_source(0);
        std::ranges::fill(result, -1);
    }

    void fill_source(int value) { std::ranges::fill(source, value); }
    bool result_is(int value) const {
        return std::ranges::all_of(result, [&](int each) { return each == value; });
    }

    pinned_buffer<int> source;
    pinned_buffer<int> result;
};

TEST_F(graph_test, outlives_the_stream_that_it_was_captured_from) {
    const stream s;
    device_buffer<int> on_device(size, s);
    const graph round_trip = [&] {
        const stream captured;
        return graph::capture(captured, [&] {
            copy(source, on_device, captured);
            copy(on_device, result, captured);
        });
    }();
    fill_source(1);
    round_trip.launch(s);
    s.synchronize();
    EXPECT_TRUE(result_is(1));
}

TEST_F(graph_test, replays_with_what_the_memory_holds_then) {
    stream s;
    device_buffer<int> on_device(size, s);
    graph round_trip = graph::capture(s, [&] {
        copy(source, on_device, s);
        copy(on_device, result, s);
    });
    s.synchronize();
    EXPECT_TRUE(result_is(-1)) << "capturing must not run the work";

    for (const int value : {3, 4, 5}) {
        fill_source(value);
        round_trip.launch(s);
        s.synchronize();
        EXPECT_TRUE(result_is(value));
    }
}

TEST_F(graph_test, moves) {
    stream s;
    graph first = graph::capture(s, [&] { copy(source, result, s); });
    graph unused = graph::capture(s, [&] { fill_bytes(result, std::byte{1}, s); });
    const cudaGraphExec_t handle = first.get();

    graph second(std::move(first));
    EXPECT_EQ(second.get(), handle);
    EXPECT_EQ(first.get(), nullptr);
    unused = std::move(second);
    graph& alias = unused;
    unused = std::move(alias);
    EXPECT_EQ(unused.get(), handle);

    fill_source(9);
    unused.launch(s);
    s.synchronize();
    EXPECT_TRUE(result_is(9));
}

TEST_F(graph_test, that_was_moved_from_launches_nothing) {
    stream s;
    graph first = graph::capture(s, [] {});
    const graph second(std::move(first));
    expect_error("graph::launch: the graph is moved from, expected one that has a handle",
                 [&] { first.launch(s); });
    EXPECT_NO_THROW(second.launch(s));
    EXPECT_NO_THROW(s.synchronize());
}

TEST_F(graph_test, may_be_empty) {
    stream s;
    const graph nothing = graph::capture(s, [] {});
    EXPECT_NO_THROW(nothing.launch(s));
    EXPECT_NO_THROW(s.synchronize());
}

TEST_F(graph_test, captures_stream_ordered_buffers) {
    stream s;
    const graph with_scratch = graph::capture(s, [&] {
        device_buffer<int> scratch(size, s);
        copy(source, scratch, s);
        copy(scratch, result, s);
    });
    for (const int value : {1, 2}) {
        fill_source(value);
        with_scratch.launch(s);
        s.synchronize();
        EXPECT_TRUE(result_is(value));
    }
}

TEST_F(graph_test, capture_that_throws_leaves_the_stream_usable) {
    stream s;
    const auto capture_and_fail = [&] {
        (void)graph::capture(s, [&] {
            device_buffer<int> scratch(size, s);
            copy(source, scratch, s);
            throw std::domain_error("from the body");
        });
    };
    EXPECT_THROW(capture_and_fail(), std::domain_error);
    EXPECT_FALSE(is_capturing(s));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);

    fill_source(6);
    graph::capture(s, [&] { copy(source, result, s); }).launch(s);
    s.synchronize();
    EXPECT_TRUE(result_is(6));
}

TEST_F(graph_test, capture_leaves_other_threads_alone) {
    stream s;
    const graph captured = graph::capture(s, [&] {
        copy(source, result, s);
        std::thread([] { pinned_buffer<int> elsewhere(size); }).join();
    });
    EXPECT_NE(captured.get(), nullptr);
}

class graph_error : public provoked_error_test {};

TEST_F(graph_error, the_legacy_stream_cannot_be_captured) {
    EXPECT_THROW((void)graph::capture(cuda::stream_ref{cudaStream_t{}}, [] {}), cuda_error);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(graph_error, a_capture_cannot_be_nested_and_goes_on) {
    stream s;
    const graph outer = graph::capture(s, [&] {
        EXPECT_THROW((void)graph::capture(s, [] {}), cuda_error);
        EXPECT_TRUE(is_capturing(s));
    });
    EXPECT_NE(outer.get(), nullptr);
}

TEST_F(graph_error, a_call_that_cannot_be_captured_is_reported) {
    stream s;
    EXPECT_THROW((void)graph::capture(s, [&] { s.synchronize(); }), cuda_error);
    EXPECT_THROW((void)graph::capture(s, [&] { (void)cudaStreamSynchronize(s.get()); }), cuda_error);
    EXPECT_FALSE(is_capturing(s));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NO_THROW(s.synchronize());
}

}  // namespace
}  // namespace heddle::test
