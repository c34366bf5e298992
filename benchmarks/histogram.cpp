#include "benchmarks/operation.hpp"
#include "benchmarks/support/cub.hpp"

#include <benchmark/benchmark.h>

namespace heddle::bench {
namespace {

/// If all elements are equal, all lanes of all warps add to one bin.
enum class data { random, equal };

/// The vector whose elements are counted.
template <class T>
struct counted_vector {
    static constexpr bool is_read = true;
    std::int64_t size;
    enum data data;

    [[nodiscard]] double bytes() const { return sizeof(T) * static_cast<double>(size); }
    [[nodiscard]] device_buffer<T> on_device() const {
        device_buffer<T> x = random_on_device<T>(size);
        if (data == data::equal) fill_bytes(x, std::byte{0x3e}, stream());
        return x;
    }
    [[nodiscard]] std::vector<T> on_host() const { return random_on_host<T>(size); }
    [[nodiscard]] vector_view<const T> view(const auto& x) const { return {x.data(), size}; }
};

template <class T>
auto histogram_of(std::int64_t size, std::int64_t bins, data data) {
    return row_case(
        fmt::format("histogram/{}/{}x{}{}", dtype<T>, size, bins, data == data::equal ? "-equal" : ""),
        counted_vector<T>{size, data}, result_vector<std::int64_t>(bins));
}

template <class T>
void heddle_histogram(std::int64_t size, std::int64_t bins, data data, temperature temperature,
                      histogram_algorithm algorithm = histogram_algorithm::automatic) {
    histogram_of<T>(size, bins, data)
        .row(implementation(algorithm), temperature, [algorithm](auto x, auto counts) {
            if constexpr (sizeof(T) == 1)
                histogram(x, counts, stream(), {.algorithm = algorithm});
            else
                histogram(x, -1, 1, counts, stream(), {.algorithm = algorithm});
        });
}

template <class T>
void histograms(std::int64_t size, std::int64_t bins, data data, temperature temperature = cold) {
    heddle_histogram<T>(size, bins, data, temperature);
    row_case(histogram_of<T>(size, bins, data).problem, counted_vector<T>{size, data},
             result_vector<std::int32_t>(bins), scratch{[] { return cub_histogram_scratch_bytes; }})
        .row("cub", temperature, [](auto x, auto counts, auto memory) {
            cub_histogram(x.data, static_cast<std::int32_t>(x.size), counts.data,
                          static_cast<std::int32_t>(counts.size), memory);
        });
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
    histogram_of<std::uint8_t>(of_ladder, 256, data::random).host_row("host", [](auto x, auto counts) {
        host::histogram(x, counts);
        benchmark::DoNotOptimize(counts.data);
    });
}

}  // namespace heddle::bench
