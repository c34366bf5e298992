// reduce_then_scan: every SM works, in three launches.
//
//   x:        | segment 0 | segment 1 | ... | segment n-1 |     one per block
//   launch 1: sums[b] = the sum of segment b
//   launch 2: sums = their exclusive scan, by one block
//   launch 3: y = the scan of each segment, which starts at sums[b]
//
// A block scans a tile at a time. Its warps have 8 rows of 32 elements each, side by side in memory. Shuffles
// scan the rows, and after one barrier each warp reads the sums of the warps before it. Nothing else goes
// through shared memory.
//
// It takes any stride. The limit is DRAM: x is read twice, so it reaches at most two thirds of a copy's rate.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/scan/launch.hpp"
#include "kernels/scan/tile.cuh"

#include <algorithm>

namespace heddle::kernels::scan {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int warps = threads / warp_size;
    static constexpr int rows = 8;
    static constexpr int elements = threads * rows;
    static constexpr int blocks_per_sm = 4;
    static constexpr int depth = block_depth(1, rows, warps);
};

template <class T>
__global__ void __launch_bounds__(tile::threads)
    reduce_segments(vector_view<const T> x, std::int64_t segment, T* sums) {
    const std::int64_t first = std::int64_t{blockIdx.x} * segment;
    const std::int64_t end = min(first + segment, x.size);
    T sum{};
#pragma unroll 8
    for (std::int64_t i = first + threadIdx.x; i < end; i += tile::threads)
        sum = plus{}(sum, x.data[i * x.stride]);
    sum = block_reduce(sum, plus{});
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// `starts` may be null: every segment then starts at 0.
template <class T>
__global__ void __launch_bounds__(tile::threads)
    scan_segments(vector_view<const T> x, vector_view<T> y, scan::kind kind, std::int64_t segment,
                  const T* starts) {
    __shared__ T of_warp[tile::warps];
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t begin = std::int64_t{blockIdx.x} * segment;
    const std::int64_t end = min(begin + segment, x.size);

    T carry = starts ? starts[blockIdx.x] : T{};
    for (std::int64_t first = begin; first < end; first += tile::elements) {
        const auto index = [&](int p) { return first + (warp * tile::rows + p) * warp_size + lane; };
        T own[tile::rows];
#pragma unroll
        for (int p = 0; p < tile::rows; ++p) own[p] = index(p) < end ? x.data[index(p) * x.stride] : T{};

        T before[tile::rows];
        T sum{};
#pragma unroll
        for (int p = 0; p < tile::rows; ++p) before[p] = scan_row(own[p], sum);
        if (lane == 0) of_warp[warp] = sum;
        ptx::sync_threads();
        const block_sums<T> block = sum_warps(of_warp);

        const T start = plus{}(carry, block.before);
#pragma unroll
        for (int p = 0; p < tile::rows; ++p) {
            if (index(p) >= end) continue;
            const T sum_before = plus{}(start, before[p]);
            y.data[index(p) * y.stride] = kind == kind::inclusive ? plus{}(sum_before, own[p]) : sum_before;
        }
        carry = plus{}(carry, block.all);
        ptx::sync_threads();
    }
}

}  // namespace

plan plan_reduce_then_scan(const scan_facts& problem, const device_traits& device) {
    const std::int64_t tiles = divide_up(problem.size, tile::elements);
    const std::int64_t most =
        problem.has_scratch ? std::int64_t{device.sm_count} * tile::blocks_per_sm : std::int64_t{1};
    const std::int64_t tiles_each = std::max<std::int64_t>(1, divide_up(tiles, most));
    const std::int64_t blocks = std::max<std::int64_t>(1, divide_up(tiles, tiles_each));
    const std::int64_t segment = tiles_each * tile::elements;

    constexpr std::int64_t ends = 3;  // the carry, the warps before, the element itself
    const auto scan_depth = [](std::int64_t size) { return tile::depth + size / tile::elements + 1 + ends; };
    plan result{.blocks = blocks, .segment = segment, .depth = scan_depth(segment)};
    if (blocks > 1) {
        result.scratch_bytes = blocks * static_cast<std::int64_t>(problem.element_bytes);
        result.depth += segment / tile::threads + block_reduce_depth + scan_depth(blocks);
    }
    return result;
}

template <class T>
void launch_reduce_then_scan(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    const std::int64_t blocks = plan.blocks, segment = plan.segment;
    T* sums = reinterpret_cast<T*>(arguments.scratch);
    if (blocks > 1) {
        launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream}, reduce_segments<T>,
               arguments.x, segment, sums);
        const std::int64_t all = (blocks / tile::elements + 1) * tile::elements;
        launch({.blocks = {1}, .threads = {tile::threads}, .stream = stream}, scan_segments<T>,
               {sums, blocks}, {sums, blocks}, kind::exclusive, all, nullptr);
    }
    launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream}, scan_segments<T>, arguments.x,
           arguments.y, arguments.kind, segment, blocks > 1 ? sums : nullptr);
}

HEDDLE_WIDE_TYPES(HEDDLE_LAUNCH, launch_reduce_then_scan, plan, arguments)

}  // namespace heddle::kernels::scan
