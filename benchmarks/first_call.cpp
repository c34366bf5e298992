// What a program waits for that calls the library once: the first call of sum, which loads its kernel, and one more.
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/reduce.hpp>
#include <heddle/stream.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

int main() try {
    using microseconds = std::chrono::duration<double, std::micro>;
    using clock = std::chrono::steady_clock;
    const auto time = [](auto call) {
        const auto begin = clock::now();
        call();
        return microseconds(clock::now() - begin).count();
    };
    constexpr std::int64_t size = 1 << 20;
    const heddle::stream stream;
    heddle::device_buffer<float> x(size, stream), result(1, stream);
    heddle::fill_zero(x, stream);
    stream.synchronize();
    const auto sum = [&] {
        heddle::sum<float>(x, result.data(), stream);
        stream.synchronize();
    };
    const double first = time(sum), second = time(sum);
    fmt::print("sum of {} floats: the first call took {:.0f} us, the next {:.0f} us\n", size, first, second);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
