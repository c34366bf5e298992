#include "tests/support/calls.hpp"
#include "tests/support/headers.hpp"

#include <barrier>
#include <exception>

namespace heddle::test {
namespace {

constexpr std::size_t threads = 16;
constexpr std::size_t streams = 4;  ///< of each thread
constexpr std::size_t rounds = 4;

/// The memory of all calls at first, numbers from 0 to 1.
std::vector<std::byte> random_memory() {
    const std::vector<float> numbers =
        random_elements<float>(operand_memory::bytes / std::int64_t{sizeof(float)}, 0, 1);
    std::vector<std::byte> bytes(operand_memory::bytes);
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

/// A stream with its own operands.
class lane {
  public:
    /// Enqueues all calls, beginning with number `first`.
    void enqueue(std::size_t first, const std::vector<std::byte>& from) {
        copy(from, memory_, stream_);
        for (std::size_t i = 0; i < calls_.size(); ++i)
            calls_[(first + i) % calls_.size()].run({memory_.data()}, stream_);
    }
    /// Waits, and gives what the calls left.
    std::vector<std::byte> results() {
        std::vector<std::byte> bytes(memory_.size());
        copy_and_wait(memory_, bytes, stream_);
        return bytes;
    }

  private:
    const std::vector<named_call> calls_ = calls_of_all_kinds();
    stream stream_;
    device_buffer<std::byte> memory_{operand_memory::bytes, stream_};
};

class threads_test : public gpu_test {};

/// The threads come first, so that they initialise the library together.
TEST_F(threads_test, give_the_bits_that_one_gives) {
    const std::vector<std::byte> memory = random_memory();
    std::vector<std::vector<std::byte>> results(threads * streams * rounds);
    std::vector<std::string> errors(threads);
    std::barrier together(threads);
    const auto work = [&](std::size_t thread) {
        together.arrive_and_wait();
        try {
            std::vector<lane> lanes(streams);
            for (std::size_t round = 0; round < rounds; ++round) {
                for (std::size_t s = 0; s < streams; ++s) lanes[s].enqueue(thread + s + round, memory);
                for (std::size_t s = 0; s < streams; ++s)
                    results[(thread * streams + s) * rounds + round] = lanes[s].results();
            }
        } catch (const std::exception& error) {
            errors[thread] = error.what();
        }
    };
    {
        std::vector<std::jthread> running;
        for (std::size_t thread = 0; thread < threads; ++thread) running.emplace_back(work, thread);
    }
    ASSERT_EQ(errors, std::vector<std::string>(threads));

    lane alone;
    for (std::size_t first = 0; first < threads + streams + rounds - 2; ++first) {
        alone.enqueue(first, memory);
        const std::vector<std::byte> expected = alone.results();
        for (std::size_t i = 0; i < results.size(); ++i)
            if (i / rounds / streams + i / rounds % streams + i % rounds == first) {
                EXPECT_TRUE(results[i] == expected)
                    << "thread " << i / rounds / streams << ", stream " << i / rounds % streams;
            }
    }
}

}  // namespace
}  // namespace heddle::test
