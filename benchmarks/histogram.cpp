#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

/// If all elements are equal, all lanes of all warps add to one bin.
enum class data { random, equal };

template <class T>
problem vector(std::int64_t size, std::int64_t bins, data data) {
    return {fmt::format("histogram/{}/{}x{}{}", dtype<T>, size, bins, data == data::equal ? "-equal" : ""),
            sizeof(T) * static_cast<double>(size), sizeof(std::int64_t) * static_cast<double>(bins)};
}

/// The vector whose elements are counted.
template <class T>
struct counted_vector {
    std::int64_t size;
    enum data data;

    [[nodiscard]] device_buffer<T> on_device() const {
        device_buffer<T> x = random_on_device<T>(size);
        if (data == data::equal) fill_bytes(x, std::byte{0x3e}, stream());
        return x;
    }
    [[nodiscard]] vector_view<const T> view(const device_buffer<T>& x) const { return {x.data(), size}; }
};

template <class T>
void heddle_histogram(std::int64_t size, std::int64_t bins, data data, temperature temperature,
                      histogram_algorithm algorithm = histogram_algorithm::automatic) {
    operand_row(
        vector<T>(size, bins, data), implementation(algorithm), temperature,
        [algorithm](auto x, auto counts) {
            if constexpr (sizeof(T) == 1)
                histogram(x, counts, stream(), {.algorithm = algorithm});
            else
                histogram(x, -1, 1, counts, stream(), {.algorithm = algorithm});
        },
        counted_vector<T>{size, data}, result_vector<std::int64_t>(bins));
}

template <class T>
void histograms(std::int64_t size, std::int64_t bins, data data, temperature temperature = cold) {
    heddle_histogram<T>(size, bins, data, temperature);
    operand_row(
        vector<T>(size, bins, data), "cub", temperature,
        [](auto x, auto counts, auto memory) {
            cub_histogram(x.data, static_cast<std::int32_t>(x.size), counts.data,
                          static_cast<std::int32_t>(counts.size), memory);
        },
        counted_vector<T>{size, data}, result_vector<std::int32_t>(bins),
        scratch{[] { return cub_histogram_scratch_bytes; }});
}

}  // namespace

void register_histogram() {
    constexpr std::int64_t medium = 1 << 20, of_ladder = 1 << 24, large = 1 << 28;
    for (const int exponent : {10, 16, 20, 24, 28})
        histograms<std::uint8_t>(std::int64_t{1} << exponent, 256, data::random);
    for (const std::int64_t size : {medium, large}) histograms<std::uint8_t>(size, 256, data::equal);
    for (const int bins : {256, 1024, 4096}) histograms<float>(large, bins, data::random);
    histograms<float>(large, 256, data::equal);
    histograms<std::uint8_t>(medium, 256, data::random, hot);

    for (const auto algorithm : histogram_algorithms())
        for (const auto data : {data::random, data::equal})
            heddle_histogram<std::uint8_t>(of_ladder, 256, data, cold, algorithm);
    host_operand_row(
        vector<std::uint8_t>(of_ladder, 256, data::random), "host",
        [](auto x, auto counts) {
            host::histogram(vector_view<const std::uint8_t>(x), counts);
            benchmark::DoNotOptimize(counts.data);
        },
        random_vector<std::uint8_t>(of_ladder), result_vector<std::int64_t>(256));
}

}  // namespace heddle::bench
