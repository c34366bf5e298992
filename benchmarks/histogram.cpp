#include "benchmarks/operations.hpp"
#include "benchmarks/support/cub_histogram.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/histogram.hpp>
#include <heddle/host.hpp>
#include <heddle/workspace.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

/// Where all elements are equal, all lanes of all warps count in one bin.
enum class data { random, equal };

template <class T>
problem vector(std::int64_t size, std::int64_t bins, data data) {
    return {fmt::format("histogram/{}/{}x{}{}", dtype<T>, size, bins, data == data::equal ? "-equal" : ""),
            sizeof(T) * static_cast<double>(size), sizeof(std::int64_t) * static_cast<double>(bins)};
}

template <class T>
device_buffer<T> make(std::int64_t size, data data) {
    device_buffer<T> x = random_on_device<T>(size);
    if (data == data::equal) fill_bytes(x, std::byte{0x3e}, stream());
    return x;
}

template <class T>
void heddle_histogram(std::int64_t size, std::int64_t bins, data data, temperature temperature,
                      histogram_algorithm algorithm = histogram_algorithm::automatic) {
    device_row(vector<T>(size, bins, data), implementation(algorithm), temperature, [=] {
        return [algorithm, x = make<T>(size, data),
                counts = device_buffer<std::int64_t>(bins, stream())]() mutable {
            if constexpr (sizeof(T) == 1)
                histogram(x, counts, stream(), {.algorithm = algorithm});
            else
                histogram(x, -1, 1, counts, stream(), {.algorithm = algorithm});
        };
    });
}

template <class T>
void cub_histogram(std::int64_t size, std::int64_t bins, data data, temperature temperature) {
    device_row(vector<T>(size, bins, data), "cub", temperature, [=] {
        return [size, bins, x = make<T>(size, data), counts = device_buffer<std::int32_t>(bins, stream()),
                scratch = workspace(cub_histogram_scratch_bytes, stream())]() mutable {
            bench::cub_histogram(x.data(), static_cast<std::int32_t>(size), counts.data(),
                                 static_cast<std::int32_t>(bins), scratch);
        };
    });
}

template <class T>
void histograms(std::int64_t size, std::int64_t bins, data data,
                temperature temperature = temperature::cold) {
    heddle_histogram<T>(size, bins, data, temperature);
    cub_histogram<T>(size, bins, data, temperature);
}

void host_histogram(std::int64_t size) {
    host_row(vector<std::uint8_t>(size, 256, data::random), "host", [size] {
        return [x = random_on_host<std::uint8_t>(size), counts = std::vector<std::int64_t>(256),
                size]() mutable {
            host::histogram(vector_view<const std::uint8_t>{x.data(), size}, vector_view{counts.data(), 256});
            benchmark::DoNotOptimize(counts.data());
        };
    });
}

}  // namespace

void register_histogram() {
    constexpr std::int64_t medium = 1 << 20;
    constexpr std::int64_t large = 1 << 28;
    for (const int exponent : {10, 16, 20, 24, 28})
        histograms<std::uint8_t>(std::int64_t{1} << exponent, 256, data::random);
    for (const std::int64_t size : {medium, large}) histograms<std::uint8_t>(size, 256, data::equal);
    for (const int bins : {256, 1024, 4096}) histograms<float>(large, bins, data::random);
    histograms<float>(large, 256, data::equal);
    histograms<std::uint8_t>(medium, 256, data::random, temperature::hot);

    for (const auto algorithm : histogram_algorithms())
        for (const auto data : {data::random, data::equal})
            heddle_histogram<std::uint8_t>(1 << 24, 256, data, temperature::cold, algorithm);
    host_histogram(1 << 24);
}

}  // namespace heddle::bench
