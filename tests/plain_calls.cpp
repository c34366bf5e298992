#include "tests/support/plain_calls.hpp"

#include "tests/support/headers.hpp"

// Calls without a workspace, which take scratch memory from heddle's pool.
namespace heddle::test {
namespace {

class plain_calls_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!is_set_up()) return;
        const stream s;
        x_ = device_buffer<float>(plain_size + 1024, s);
        y_ = device_buffer<float>(plain_size + 1024, s);
        copy_and_wait(random_elements<float>(plain_size + 1024, 0, 1), x_, s);
        copy_and_wait(random_elements<float>(plain_size + 1024, 0, 1), y_, s);
        for (device_buffer<float>* each : {&x_, &y_}) each->set_stream(cuda::stream_ref{cudaStream_t{}});
    }

    plain_operands writing(device_buffer<float>& result) { return {x_.data(), y_.data(), result.data()}; }

    static std::vector<float> values_of(const device_buffer<float>& result, std::int64_t count,
                                        const stream& s) {
        std::vector<float> values(static_cast<std::size_t>(count));
        copy_and_wait(vector_view<const float>{result.data(), count}, values, s);
        return values;
    }
    std::vector<float> values_of(const plain_call& call, std::span<std::byte> given = {},
                                 scratch from = scratch::pool) {
        const stream s;
        device_buffer<float> result(2 * plain_size, s);
        fill_bytes(result, std::byte{0xff}, s);
        call.run(writing(result), s, given, from);
        return values_of(result, call.results, s);
    }

    device_buffer<float> x_, y_;
};

TEST_F(plain_calls_test, give_the_bits_of_calls_with_a_workspace) {
    const stream s;
    for (const plain_call& each : plain_calls()) {
        workspace given(std::int64_t{64} << 20, s);
        s.synchronize();
        EXPECT_TRUE(values_of(each) == values_of(each, given)) << each.name;
    }
}

TEST_F(plain_calls_test, allocate_nothing_where_scratch_is_none_or_given) {
    const stream s;
    workspace given(std::int64_t{64} << 20, s);
    s.synchronize();
    memory_pool pool = memory_pool::scratch_of(current_device());
    for (const plain_call& each : plain_calls()) {
        SCOPED_TRACE(each.name);
        const std::vector<float> expected = values_of(each);
        const std::size_t before = pool.bytes_in_use();
        pool.reset_peaks();
        (void)values_of(each, given);
        const std::vector<float> without = values_of(each, {}, scratch::none);
        EXPECT_EQ(pool.bytes_in_use(), before);
        EXPECT_EQ(pool.peak_bytes_in_use(), before);
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_LE(std::abs(without[i] - expected[i]), 1e-3 * std::abs(expected[i])) << i;
    }
}

TEST_F(plain_calls_test, take_nothing_anew_after_a_synchronisation) {
    const stream s;
    device_buffer<float> result(2 * plain_size, s);
    const std::vector<plain_call> calls = plain_calls();
    memory_pool pool = memory_pool::scratch_of(current_device());
    std::size_t reserved = 0, in_use = 0;
    for (int round = 0; round < 20; ++round)
        for (const plain_call& each : calls) {
            each.run(writing(result), s, {}, scratch::pool);
            s.synchronize();
            if (round == 0) {
                reserved = pool.bytes_reserved();
                in_use = pool.bytes_in_use();
            }
            ASSERT_EQ(pool.bytes_reserved(), reserved) << each.name;
            ASSERT_EQ(pool.bytes_in_use(), in_use) << each.name;
        }
}

TEST_F(plain_calls_test, leave_the_default_pool_as_it_is) {
    const memory_pool pool = memory_pool::of_device(current_device());
    const stream s;
    device_buffer<float> result(2 * plain_size, s);
    const auto state = [&] {
        return std::vector{pool.release_threshold(), pool.bytes_in_use(), pool.bytes_reserved()};
    };
    const auto before = state();
    for (const plain_call& each : plain_calls()) each.run(writing(result), s, {}, scratch::pool);
    EXPECT_EQ(state(), before);
    s.synchronize();
}

/// Calls of each kind, again and again, on streams that run at the same time, each from its own thread.
TEST_F(plain_calls_test, do_not_share_memory_on_several_streams) {
    constexpr std::size_t streams = 4;
    const std::vector<plain_call> calls = plain_calls();
    std::vector<std::vector<float>> expected;
    for (const plain_call& each : calls) expected.push_back(values_of(each));
    std::vector<std::string> wrong(streams);
    const auto work = [&](std::size_t number) {
        const stream s;
        device_buffer<float> result(2 * plain_size, s);
        for (std::size_t i = 0; i < 50 * calls.size(); ++i) {
            const std::size_t which = (i + number) % calls.size();
            for (int repeated = 0; repeated < 3; ++repeated)
                calls[which].run(writing(result), s, {}, scratch::pool);
            if (values_of(result, calls[which].results, s) != expected[which])
                wrong[number] = calls[which].name;
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < streams; ++i) threads.emplace_back(work, i);
    }
    EXPECT_EQ(wrong, std::vector<std::string>(streams));
}

TEST_F(plain_calls_test, may_come_from_two_threads_on_one_stream) {
    const std::vector<plain_call> calls = plain_calls();
    const plain_call& call = calls[4];
    const std::vector<float> expected = values_of(call);
    const stream s;
    device_buffer<float> first(2 * plain_size, s), second(2 * plain_size, s);
    const auto work = [&](device_buffer<float>& result) {
        for (int i = 0; i < 200; ++i) call.run(writing(result), s, {}, scratch::pool);
    };
    {
        const std::jthread one([&] { work(first); }), two([&] { work(second); });
    }
    EXPECT_TRUE(values_of(first, call.results, s) == expected);
    EXPECT_TRUE(values_of(second, call.results, s) == expected);
}

TEST_F(plain_calls_test, replay_from_a_graph_beside_others) {
    const stream s, other;
    device_buffer<float> result(2 * plain_size, s), of_other(2 * plain_size, other);
    for (const plain_call& each : plain_calls()) {
        SCOPED_TRACE(each.name);
        const std::vector<float> expected = values_of(each);
        const graph captured = graph::capture(s, [&] {
            each.run(writing(result), s, {}, scratch::pool);
            each.run(writing(of_other), other, {}, scratch::pool);  // is not captured
            each.run(writing(result), s, {}, scratch::pool);
        });
        for (int launch = 0; launch < 3; ++launch) {
            fill_bytes(result, std::byte{0xff}, s);
            fill_bytes(of_other, std::byte{0xff}, other);
            captured.launch(s);
            each.run(writing(of_other), other, {}, scratch::pool);
            each.run(writing(result), s, {}, scratch::pool);
            captured.launch(s);
            EXPECT_TRUE(values_of(result, each.results, s) == expected) << launch;
            EXPECT_TRUE(values_of(of_other, each.results, other) == expected) << launch;
        }
    }
}

}  // namespace
}  // namespace heddle::test
