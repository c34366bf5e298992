#include "benchmarks/support/cub_scan.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>

#include <cub/device/device_scan.cuh>

namespace heddle::bench {

template <class T>
void cub_inclusive_scan(const T* x, T* y, std::int32_t size, std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceScan::InclusiveSum(scratch.data(), bytes, x, y, size, stream().get()));
}

template <class T>
void cub_exclusive_scan(const T* x, T* y, std::int32_t size, std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    check(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, x, y, size, stream().get()));
}

template <class T>
std::int64_t cub_scan_scratch_bytes(std::int32_t size) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::InclusiveSum(nullptr, bytes, static_cast<const T*>(nullptr),
                                        static_cast<T*>(nullptr), size, stream().get()));
    return static_cast<std::int64_t>(bytes);
}

template void cub_inclusive_scan(const float*, float*, std::int32_t, std::span<std::byte>);
template void cub_exclusive_scan(const float*, float*, std::int32_t, std::span<std::byte>);
template std::int64_t cub_scan_scratch_bytes<float>(std::int32_t);
template void cub_inclusive_scan(const double*, double*, std::int32_t, std::span<std::byte>);
template void cub_exclusive_scan(const double*, double*, std::int32_t, std::span<std::byte>);
template std::int64_t cub_scan_scratch_bytes<double>(std::int32_t);
template void cub_inclusive_scan(const std::int32_t*, std::int32_t*, std::int32_t, std::span<std::byte>);
template void cub_exclusive_scan(const std::int32_t*, std::int32_t*, std::int32_t, std::span<std::byte>);
template std::int64_t cub_scan_scratch_bytes<std::int32_t>(std::int32_t);
template void cub_inclusive_scan(const std::int64_t*, std::int64_t*, std::int32_t, std::span<std::byte>);
template void cub_exclusive_scan(const std::int64_t*, std::int64_t*, std::int32_t, std::span<std::byte>);
template std::int64_t cub_scan_scratch_bytes<std::int64_t>(std::int32_t);

}  // namespace heddle::bench
