// Takes the sigmoid of more numbers than one would keep on the device: copies them there, computes and copies back.
//
// In sequence, the link is idle during the computation, and each direction of it during the other's copy. In chunks
// that alternate between two streams, the three overlap:
//
//   stream 0:  in 0 | compute 0 | out 0 | in 2     | compute 2 | ...
//   stream 1:         in 1      | compute 1 | out 1 | in 3     | ...
//
// Asynchronous copies need page-locked memory on the host: pinned_buffer.
#include <heddle/heddle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

constexpr std::int64_t size = std::int64_t{1} << 26;
constexpr std::int64_t chunk = size / 32;
constexpr int rounds = 5;

using buffer = heddle::pinned_buffer<float>;

template <class T>
heddle::vector_view<T> part(T* data, std::int64_t first) {
    return {data + first, chunk};
}

void one_after_another(const buffer& x, buffer& y, const heddle::stream& stream) {
    heddle::device_buffer<float> values(size, stream);
    heddle::copy(x, values, stream);
    heddle::sigmoid<float>(values, values, stream);
    heddle::copy(values, y, stream);
    stream.synchronize();
}

void overlapped(const buffer& x, buffer& y, const std::array<heddle::stream, 2>& streams) {
    std::array<heddle::device_buffer<float>, 2> values;
    for (std::size_t i = 0; i < streams.size(); ++i)
        values[i] = heddle::device_buffer<float>(chunk, streams[i]);
    for (std::int64_t first = 0; first < size; first += chunk) {
        const auto i = static_cast<std::size_t>(first / chunk) % streams.size();
        heddle::copy(part(x.data(), first), values[i], streams[i]);
        heddle::sigmoid<float>(values[i], values[i], streams[i]);
        heddle::copy(values[i], part(y.data(), first), streams[i]);
    }
    for (const heddle::stream& stream : streams) stream.synchronize();
}

template <class Function>
double milliseconds(Function function) {
    const auto start = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The largest error relative to the result in float64. NaN if any result is NaN.
double largest_error(const buffer& x, const buffer& y) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = 1 / (1 + std::exp(-static_cast<double>(x[i])));
        const double error = std::abs(y[i] - exact) / exact;
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

int run() {
    if (heddle::device_count() == 0) {
        fmt::print("no CUDA device: there is nothing to overlap\n");
        return EXIT_SUCCESS;
    }
    buffer x(size), serial(size), parallel(size);
    for (std::int64_t i = 0; i < size; ++i)
        x[static_cast<std::size_t>(i)] = static_cast<float>(i % 4001 - 2000) / 100;

    const std::array<heddle::stream, 2> streams;
    // Keeps the allocations of the first round for the later ones.
    heddle::memory_pool::of_device(heddle::current_device()).set_release_threshold(2 * size * sizeof(float));
    double serial_time = INFINITY, overlapped_time = INFINITY;
    for (int round = 0; round < rounds; ++round) {
        serial_time = std::min(serial_time, milliseconds([&] { one_after_another(x, serial, streams[0]); }));
        overlapped_time = std::min(overlapped_time, milliseconds([&] { overlapped(x, parallel, streams); }));
    }

    constexpr double megabytes = size * sizeof(float) / 1e6;
    fmt::print("sigmoid of {:.0f} MB on {}, best of {} rounds\n", megabytes,
               heddle::traits_of(heddle::current_device()).name, rounds);
    fmt::print("one after another   {:7.2f} ms\n", serial_time);
    fmt::print("in {} chunks        {:7.2f} ms, {:.2f} times as fast\n", size / chunk, overlapped_time,
               serial_time / overlapped_time);

    constexpr double u = 0x1p-24;
    constexpr double bound = 5 * u + 32 * u * u;  // docs/accuracy.md
    const double error = std::max(largest_error(x, serial), largest_error(x, parallel));
    const bool is_right = error <= bound && std::ranges::equal(serial, parallel);
    fmt::print("largest error {:.1e}: {}\n", error, is_right ? "right" : "WRONG");
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "overlap: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
