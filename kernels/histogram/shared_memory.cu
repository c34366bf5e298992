// shared_memory: a block counts in shared memory, then adds its counts to global memory.
//
//   x -> bins[0 .. n-1] of the block, by atomic additions in its SM -> counts, one addition a bin and block
//
// It takes any stride, and as many bins as 48 KB hold. A thread has eight loads under way. But lanes of a warp that meet
// in a bin or in a bank take turns, and every element needs a load instruction.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"
#include "kernels/histogram/plan/blocks.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::histogram {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
    static constexpr int batch = 8;  ///< elements of a thread that are loaded at once
};

template <class T>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    shared_memory(const __grid_constant__ arguments<T> a) {
    extern __shared__ unsigned counts[];
    for (int bin = static_cast<int>(threadIdx.x); bin < a.bins; bin += tile::threads) counts[bin] = 0;
    ptx::sync_threads();

    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;
    // An addition keeps the compiler from loading the next element before it, so a batch is loaded by itself.
    for (std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x; i < a.x.size;
         i += tile::batch * step) {
        T elements[tile::batch];
#pragma unroll
        for (int b = 0; b < tile::batch; ++b)
            if (i + b * step < a.x.size) elements[b] = a.x.data[(i + b * step) * a.x.stride];
#pragma unroll
        for (int b = 0; b < tile::batch; ++b) {
            const int bin = i + b * step < a.x.size ? bin_of(elements[b], a.range, a.bins) : -1;
            if (bin >= 0) ptx::atomic_add(counts + bin, 1u);
        }
    }
    ptx::sync_threads();

    for (int bin = static_cast<int>(threadIdx.x); bin < a.bins; bin += tile::threads)
        if (counts[bin] > 0) ptx::atomic_add(a.counts + bin, static_cast<unsigned long long>(counts[bin]));
}

}  // namespace

plan plan_shared_memory(const histogram_facts& problem, const device_traits& device) {
    constexpr std::int64_t sector_bytes = 32;
    const std::int64_t bytes = std::min(problem.stride * problem.element_bytes, sector_bytes);
    const double reading = static_cast<double>(problem.size) * static_cast<double>(bytes) *
                           tile::blocks_per_sm / rates::sm_bytes;
    const std::int64_t most =
        quickest_blocks(reading, problem.bins, std::int64_t{device.sm_count} * tile::blocks_per_sm);
    return {.blocks = {blocks_for(problem.size, problem.size, tile::threads, most)},
            .threads = {tile::threads},
            .shared_bytes = static_cast<std::size_t>(problem.bins) * sizeof(unsigned)};
}

template <class T>
void launch_shared_memory(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch(
        {.blocks = plan.blocks, .threads = plan.threads, .shared_bytes = plan.shared_bytes, .stream = stream},
        shared_memory<T>, arguments);
}

template void launch_shared_memory(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_shared_memory(const plan&, const arguments<float>&, cudaStream_t);

}  // namespace heddle::kernels::histogram
