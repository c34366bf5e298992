#include "tests/support/gate.hpp"
#include "tests/support/headers.hpp"

#include <atomic>
#include <chrono>

namespace heddle::test {
namespace {

template <class Handle>
constexpr bool is_owning =
    !std::is_copy_constructible_v<Handle> && !std::is_copy_assignable_v<Handle> &&
    std::is_nothrow_move_constructible_v<Handle> && std::is_nothrow_move_assignable_v<Handle> &&
    std::is_nothrow_destructible_v<Handle>;

static_assert(is_owning<stream>);
static_assert(is_owning<event>);
static_assert(std::is_convertible_v<const stream&, cuda::stream_ref>);
static_assert(!std::is_nothrow_convertible_v<const stream&, cuda::stream_ref>);

class stream_test : public gpu_test {};
class event_test : public gpu_test {};

template <class Handle>
void expect_moves() {
    Handle first;
    const auto handle = first.get();
    ASSERT_NE(handle, nullptr);

    Handle second(std::move(first));
    EXPECT_EQ(second.get(), handle);
    EXPECT_EQ(first.get(), nullptr);

    Handle third;
    third = std::move(second);
    EXPECT_EQ(third.get(), handle);
    EXPECT_EQ(second.get(), nullptr);

    Handle& alias = third;
    third = std::move(alias);
    EXPECT_EQ(third.get(), handle);
    EXPECT_NO_THROW(third.synchronize());
}

TEST_F(stream_test, moves) {
    expect_moves<stream>();
}

TEST_F(event_test, moves) {
    expect_moves<event>();
}

/// Each is refused as one of something that was moved from.
void expect_moved_from(std::initializer_list<std::pair<const char*, std::function<void()>>> calls) {
    for (const auto& [what, call] : calls)
        expect_error(std::string(what) + " is moved from, expected one that has a handle", call);
}

TEST_F(stream_test, that_was_moved_from_is_not_the_default_stream) {
    stream first;
    event mark;
    const stream second(std::move(first));
    expect_moved_from({{"stream_ref: the stream", [&] { (void)static_cast<cuda::stream_ref>(first); }},
                       {"stream_ref: the stream", [&] { device_buffer<int>(1, first); }},
                       {"stream_ref: the stream", [&] { mark.record(first); }},
                       {"stream::synchronize: the stream", [&] { first.synchronize(); }},
                       {"stream::is_done: the stream", [&] { (void)first.is_done(); }},
                       {"stream::wait: the stream", [&] { first.wait(mark); }}});
    EXPECT_NO_THROW(mark.record(second));
    EXPECT_NO_THROW(mark.record(cuda::stream_ref{cudaStream_t{}}));  // the default stream, requested by name
    EXPECT_NO_THROW(mark.synchronize());
}

TEST_F(event_test, that_was_moved_from_marks_nothing) {
    stream s;
    event first;
    const event second(std::move(first));
    expect_moved_from({{"event::record: the event", [&] { first.record(s); }},
                       {"event::synchronize: the event", [&] { first.synchronize(); }},
                       {"event::is_done: the event", [&] { (void)first.is_done(); }},
                       {"stream::wait: mark", [&] { s.wait(first); }},
                       {"elapsed: start", [&] { (void)elapsed(first, second); }},
                       {"elapsed: stop", [&] { (void)elapsed(second, first); }}});
}

TEST_F(stream_test, converts_to_the_runtimes_handles) {
    const stream s;
    const cuda::stream_ref reference = s;
    EXPECT_EQ(reference.get(), s.get());
}

TEST_F(stream_test, does_not_block_the_default_stream_unless_asked) {
    const auto flags_of = [](const stream& s) {
        unsigned flags = 0;
        check(cudaStreamGetFlags(s.get(), &flags));
        return flags;
    };
    EXPECT_EQ(flags_of(stream{}), unsigned{cudaStreamNonBlocking});
    EXPECT_EQ(flags_of(stream{{.non_blocking = false}}), unsigned{cudaStreamDefault});
}

TEST_F(stream_test, takes_a_priority) {
    int least = 0;
    int greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    const auto priority_of = [](int asked) {
        const stream s{{.priority = asked}};
        int priority = 0;
        check(cudaStreamGetPriority(s.get(), &priority));
        return priority;
    };
    EXPECT_EQ(priority_of(greatest), greatest);
    EXPECT_EQ(priority_of(least), least);
    EXPECT_EQ(priority_of(greatest - 1), greatest);
}

TEST_F(stream_test, is_done_when_its_work_is) {
    stream s;
    gate gate;
    EXPECT_TRUE(s.is_done());
    gate.hold(s);
    EXPECT_FALSE(s.is_done());
    gate.open();
    s.synchronize();
    EXPECT_TRUE(s.is_done());
}

TEST_F(stream_test, waits_for_an_event_of_another) {
    stream producer;
    stream consumer;
    event produced;
    gate gate;
    gate.hold(producer);
    produced.record(producer);
    consumer.wait(produced);

    EXPECT_FALSE(consumer.is_done());
    gate.open();
    consumer.synchronize();
    EXPECT_TRUE(produced.is_done());
}

TEST_F(stream_test, finishes_its_work_after_it_is_destroyed) {
    // There is no gate: under compute-sanitizer a stream's destruction waits for its work.
    event done;
    std::optional<stream> s(std::in_place);
    std::atomic<bool> has_run = false;
    const auto work = [](void* flag) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        *static_cast<std::atomic<bool>*>(flag) = true;
    };
    check(cudaLaunchHostFunc(s->get(), work, &has_run));
    done.record(*s);
    s.reset();

    done.synchronize();
    EXPECT_TRUE(has_run);
}

TEST_F(event_test, is_done_where_nothing_was_recorded) {
    const event e;
    EXPECT_TRUE(e.is_done());
    EXPECT_NO_THROW(e.synchronize());
}

TEST_F(event_test, moves_its_mark_when_recorded_again) {
    stream s;
    event e;
    e.record(s);
    e.synchronize();
    gate gate;
    gate.hold(s);
    e.record(s);
    EXPECT_FALSE(e.is_done());
}

TEST_F(event_test, measures_time) {
    using milliseconds = std::chrono::duration<float, std::milli>;
    static constexpr std::chrono::milliseconds pause(20);
    constexpr float clocks_agree_to = 0.01F;
    stream s;
    event start;
    event stop;
    s.synchronize();

    const auto host_start = std::chrono::steady_clock::now();
    start.record(s);
    check(cudaLaunchHostFunc(
        s.get(), [](void*) { std::this_thread::sleep_for(pause); }, nullptr));
    stop.record(s);
    stop.synchronize();
    const milliseconds on_host = std::chrono::steady_clock::now() - host_start;

    const milliseconds on_device = elapsed(start, stop);
    EXPECT_GE(on_device.count(), milliseconds(pause).count() * (1 - clocks_agree_to));
    EXPECT_LE(on_device.count(), on_host.count() * (1 + clocks_agree_to));
}

class event_error : public provoked_error_test {};

TEST_F(event_error, time_needs_both_ends_done) {
    stream s;
    event start;
    event stop;
    gate gate;
    start.record(s);
    gate.hold(s);
    stop.record(s);
    EXPECT_EQ(cuda_error_of([&] { (void)elapsed(start, stop); }).status(), cudaErrorNotReady);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(event_error, time_needs_timing) {
    stream s;
    event start{{.timing = false}};
    event stop;
    start.record(s);
    stop.record(s);
    s.synchronize();
    EXPECT_THROW((void)elapsed(start, stop), cuda_error);
}

}  // namespace
}  // namespace heddle::test
