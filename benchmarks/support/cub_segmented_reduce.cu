#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>

#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace heddle::bench {
namespace {

struct row_begin {
    std::int64_t cols;
    __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

auto offsets(std::int64_t cols) {
    return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), row_begin{cols});
}

}  // namespace

void cub_row_reduction(bool is_sum, const float* x, std::int64_t rows, std::int64_t cols, float* y,
                       std::span<std::byte> scratch) {
    std::size_t bytes = scratch.size();
    const auto begins = offsets(cols), ends = begins + 1;
    const cudaStream_t on = stream().get();
    check(is_sum ? cub::DeviceSegmentedReduce::Sum(scratch.data(), bytes, x, y, rows, begins, ends, on)
                 : cub::DeviceSegmentedReduce::Max(scratch.data(), bytes, x, y, rows, begins, ends, on));
}

}  // namespace heddle::bench
