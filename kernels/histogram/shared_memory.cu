// shared_memory: a block counts in shared memory, then adds its counts to global memory.
//
//   x -> bins[0 .. n-1] of the block, by atomic additions in its SM -> counts, one addition a bin and block
//
// Any stride; as many bins as 48 KB hold. What limits it is that lanes of a warp which meet in a bin, or in a
// bank, take turns, and a load instruction for every element.

#include "kernels/device/launch.hpp"
#include "kernels/histogram/bin.cuh"

namespace heddle::kernels::histogram {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
};

template <class T>
__global__ void __launch_bounds__(tile::threads) shared_memory(const __grid_constant__ arguments<T> a) {
    extern __shared__ unsigned counts[];
    for (int bin = static_cast<int>(threadIdx.x); bin < a.bins; bin += tile::threads) counts[bin] = 0;
    __syncthreads();

    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x; i < a.x.size; i += step) {
        const int bin = bin_of(a.x.data[i * a.x.stride], a.range, a.bins);
        if (bin >= 0) atomicAdd(counts + bin, 1u);
    }
    __syncthreads();

    for (int bin = static_cast<int>(threadIdx.x); bin < a.bins; bin += tile::threads)
        if (counts[bin] > 0) atomicAdd(a.counts + bin, static_cast<unsigned long long>(counts[bin]));
}

}  // namespace

template <class T>
void launch_shared_memory(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream) {
    const std::int64_t size = arguments.x.size;
    const std::int64_t blocks =
        blocks_for(size, size, tile::threads, std::int64_t{device.sm_count} * tile::blocks_per_sm);
    const std::size_t bytes = static_cast<std::size_t>(arguments.bins) * sizeof(unsigned);
    launch({.blocks = {blocks}, .threads = {tile::threads}, .shared_bytes = bytes, .stream = stream},
           shared_memory<T>, arguments);
}

template void launch_shared_memory(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);
template void launch_shared_memory(const arguments<float>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::histogram
