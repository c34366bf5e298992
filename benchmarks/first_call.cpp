// What a program waits for that calls the library once: the first call of an operation, which loads its kernel, and one more.
#include <heddle/buffer.hpp>
#include <heddle/conv.hpp>
#include <heddle/copy.hpp>
#include <heddle/reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace {

/// `call` enqueues on the stream, on which nothing is under way.
template <class Call>
void print_times(const char* what, const heddle::stream& stream, Call call) {
    using clock = std::chrono::steady_clock;
    using microseconds = std::chrono::duration<double, std::micro>;
    const auto time = [&] {
        const auto begin = clock::now();
        call();
        const auto returned = clock::now();
        stream.synchronize();
        return std::pair(microseconds(returned - begin).count(), microseconds(clock::now() - begin).count());
    };
    const auto [first_on_host, first] = time();
    const auto [second_on_host, second] = time();
    fmt::print("{}: the first call took {:.0f} us, of which the host {:.0f}; the next {:.0f} us, {:.0f}\n",
               what, first, first_on_host, second, second_on_host);
}

void sum(const heddle::stream& stream) {
    constexpr std::int64_t size = 1 << 20;
    heddle::device_buffer<float> x(size, stream), result(1, stream);
    heddle::fill_zero(x, stream);
    stream.synchronize();
    print_times("sum of 2^20 floats", stream, [&] { heddle::sum<float>(x, result.data(), stream); });
}

void conv(const heddle::stream& stream) {
    using heddle::bfloat16;
    constexpr std::int64_t side = 28, channels = 128;
    heddle::device_buffer<bfloat16> x(side * side * channels, stream), w(channels * 9 * channels, stream),
        y(side * side * channels, stream);
    heddle::fill_zero(x, stream);
    heddle::fill_zero(w, stream);
    stream.synchronize();
    print_times("conv of 28 x 28 x 128 bfloat16 by 128 filters of 3 x 3", stream, [&] {
        heddle::conv<bfloat16>({x.data(), 1, side, side, channels}, {w.data(), channels, 3, 3, channels},
                               heddle::tensor_view<bfloat16>{y.data(), 1, side, side, channels}, stream,
                               {.geometry = {.padding = {1, 1, 1, 1}}});
    });
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string_view operation = argc > 1 ? argv[1] : "sum";
    if (argc > 2 || (operation != "sum" && operation != "conv")) {
        fmt::print(stderr, "first_call [sum|conv]\n");
        return 2;
    }
    const heddle::stream stream;
    operation == "conv" ? conv(stream) : sum(stream);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
