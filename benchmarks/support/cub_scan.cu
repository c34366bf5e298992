#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>

#include <cub/device/device_scan.cuh>

namespace heddle::bench {

template <class T>
void cub_scan(bool inclusive, const T* x, T* y, std::int32_t size, std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(inclusive ? cub::DeviceScan::InclusiveSum(scratch.data(), bytes, x, y, size, stream().get())
                    : cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, x, y, size, stream().get()));
}

template <class T>
std::int64_t cub_scan_scratch_bytes(std::int32_t size) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::InclusiveSum(nullptr, bytes, static_cast<const T*>(nullptr),
                                        static_cast<T*>(nullptr), size, stream().get()));
    return static_cast<std::int64_t>(bytes);
}

#define HEDDLE_CUB_SCAN(T)                                                          \
    template void cub_scan(bool, const T*, T*, std::int32_t, std::span<std::byte>); \
    template std::int64_t cub_scan_scratch_bytes<T>(std::int32_t);
HEDDLE_CUB_SCAN(float)
HEDDLE_CUB_SCAN(double)
HEDDLE_CUB_SCAN(std::int32_t)
HEDDLE_CUB_SCAN(std::int64_t)
#undef HEDDLE_CUB_SCAN

}  // namespace heddle::bench
