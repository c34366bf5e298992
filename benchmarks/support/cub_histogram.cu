#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>

#include <cub/device/device_histogram.cuh>

namespace heddle::bench {

void cub_histogram(const std::uint8_t* x, std::int32_t size, std::int32_t* counts, std::int32_t bins,
                   std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceHistogram::HistogramEven(scratch.data(), bytes, x, counts, bins + 1, 0, bins, size,
                                              stream().get()));
}

void cub_histogram(const float* x, std::int32_t size, std::int32_t* counts, std::int32_t bins,
                   std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceHistogram::HistogramEven(scratch.data(), bytes, x, counts, bins + 1, -1.0f, 1.0f, size,
                                              stream().get()));
}

}  // namespace heddle::bench
