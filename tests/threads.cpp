#include "tests/support/headers.hpp"

#include <barrier>
#include <exception>

namespace heddle::test {
namespace {

constexpr int threads = 16;
constexpr int streams = 4;  ///< of each thread
constexpr int rounds = 4;
constexpr std::int64_t side = 400;  ///< of all matrices and images
constexpr std::int64_t size = side * side;

template <class T>
device_buffer<T> upload(const std::vector<T>& elements, cuda::stream_ref stream) {
    device_buffer<T> buffer(static_cast<std::int64_t>(elements.size()), stream);
    copy_and_wait(elements, buffer, stream);
    return buffer;
}

/// The operands that all threads read.
struct inputs {
    explicit inputs(cuda::stream_ref stream)
        : floats(upload(random_elements<float>(size), stream)),
          factors(upload(random_elements<float>(size), stream)),
          shorts(upload(random_elements<bfloat16>(size), stream)),
          pixels(upload(random_elements<std::uint8_t>(size, 0, 255), stream)) {}

    device_buffer<float> floats, factors;
    device_buffer<bfloat16> shorts;
    device_buffer<std::uint8_t> pixels;
};

/// A stream with its own results and scratch memory.
class lane {
    auto buffers() {
        return std::tie(products_, products_with_workspace_, sigmoids_, shares_, sums_, turned_,
                        short_products_, blurred_, total_);
    }

  public:
    explicit lane(const inputs& in)
        : in_(in),
          products_(size, stream_),
          products_with_workspace_(size, stream_),
          sigmoids_(size, stream_),
          shares_(size, stream_),
          sums_(size, stream_),
          turned_(size, stream_),
          short_products_(size, stream_),
          blurred_(size, stream_),
          total_(1, stream_),
          scratch_(matmul_workspace_bytes<float>(view(in.floats), view(in.factors), view(products_), stream_),
                   stream_) {}

    /// Enqueues all operations, beginning with number `first`.
    void enqueue(int first) {
        constexpr int operations = 9;
        for (int i = 0; i < operations; ++i) enqueue_one((first + i) % operations);
    }

    /// Waits, and gives the results.
    std::vector<std::byte> results() {
        std::vector<std::byte> all;
        const auto append = [&](const auto& buffer) {
            std::vector<typename std::decay_t<decltype(buffer)>::value_type> elements(buffer.size());
            copy_and_wait(buffer, elements, stream_);
            const auto* const bytes = reinterpret_cast<const std::byte*>(elements.data());
            all.insert(all.end(), bytes, bytes + elements.size() * sizeof(elements[0]));
        };
        std::apply([&](const auto&... each) { (append(each), ...); }, buffers());
        return all;
    }

    void clear() {
        std::apply([&](auto&... each) { (fill_bytes(each, std::byte{0xff}, stream_), ...); }, buffers());
    }

  private:
    template <class T>
    static matrix_view<const T> view(const device_buffer<T>& buffer) {
        return {buffer.data(), side, side};
    }
    template <class T>
    static matrix_view<T> view(device_buffer<T>& buffer) {
        return {buffer.data(), side, side};
    }

    void enqueue_one(int operation) {
        const vector_view<const float> floats = in_.floats;
        switch (operation) {
            case 0:
                return sigmoid<float>(floats, sigmoids_, stream_);
            case 1:
                return sum<float>(floats, total_.data(), stream_);
            case 2:
                return matmul<float>(view(in_.floats), view(in_.factors), view(products_), stream_);
            case 3:
                return matmul<float>(view(in_.floats), view(in_.factors), view(products_with_workspace_),
                                     stream_, {.workspace = scratch_});
            case 4:
                return matmul<bfloat16>(view(in_.shorts), view(in_.shorts), view(short_products_), stream_);
            case 5:
                return softmax<float>(view(in_.floats), view(shares_), stream_);
            case 6:
                return gaussian_blur<std::uint8_t>(
                    image_view<const std::uint8_t>{in_.pixels.data(), side, side},
                    image_view<std::uint8_t>{blurred_.data(), side, side}, 2.0, stream_);
            case 7:
                return inclusive_scan<float>(floats, vector_view<float>(sums_), stream_);
            default:
                return transpose<float>(view(in_.floats), view(turned_), stream_);
        }
    }

    const inputs& in_;
    stream stream_;
    device_buffer<float> products_, products_with_workspace_, sigmoids_, shares_, sums_, turned_;
    device_buffer<bfloat16> short_products_;
    device_buffer<std::uint8_t> blurred_;
    device_buffer<float> total_;
    workspace scratch_;
};

class threads_test : public gpu_test {};

/// The threads come first, so that they initialise the library together.
TEST_F(threads_test, give_the_bits_that_one_gives) {
    const stream own;
    const inputs in(own);
    std::vector<std::vector<std::byte>> results(threads * streams);
    std::vector<std::string> errors(threads);
    std::barrier together(threads);
    const auto work = [&](int thread) {
        try {
            std::vector<std::unique_ptr<lane>> lanes;
            for (int s = 0; s < streams; ++s) lanes.push_back(std::make_unique<lane>(in));
            for (int round = 0; round < rounds; ++round) {
                for (auto& each : lanes) each->clear();
                for (int s = 0; s < streams; ++s)
                    lanes[static_cast<std::size_t>(s)]->enqueue(thread + s + round);
                for (int s = 0; s < streams; ++s) {
                    auto now = lanes[static_cast<std::size_t>(s)]->results();
                    auto& first = results[static_cast<std::size_t>(thread * streams + s)];
                    if (round == 0)
                        first = std::move(now);
                    else if (now != first)
                        errors[static_cast<std::size_t>(thread)] =
                            "stream " + std::to_string(s) + " differs in round " + std::to_string(round);
                }
            }
        } catch (const std::exception& error) {
            errors[static_cast<std::size_t>(thread)] = error.what();
        }
    };
    {
        std::vector<std::jthread> running;
        for (int thread = 0; thread < threads; ++thread)
            running.emplace_back([&, thread] {
                together.arrive_and_wait();
                work(thread);
            });
    }
    for (int thread = 0; thread < threads; ++thread)
        EXPECT_EQ(errors[static_cast<std::size_t>(thread)], "") << "thread " << thread;

    lane alone(in);
    alone.clear();
    alone.enqueue(0);
    const std::vector<std::byte> expected = alone.results();
    for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_TRUE(results[i] == expected) << "thread " << i / streams << ", stream " << i % streams;
}

}  // namespace
}  // namespace heddle::test
