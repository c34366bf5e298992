// shared_memory: a block counts in shared memory, then adds its counts to global memory.
//
//   x -> bins[0 .. n-1] of the block, by atomic additions in its SM -> counts, one addition a bin and block
//
// It takes any stride, and as many bins as 48 KB hold. But lanes of a warp that meet in a bin or in a bank take
// turns, and every element needs a load instruction.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"

namespace heddle::kernels::histogram {
namespace {

template <class T>
__global__ void __launch_bounds__(element_tile::threads)
    shared_memory(const __grid_constant__ arguments<T> a) {
    extern __shared__ unsigned counts[];
    for (int bin = static_cast<int>(threadIdx.x); bin < a.bins; bin += element_tile::threads) counts[bin] = 0;
    ptx::sync_threads();

    for_each_bin(a, [&](int bin) { ptx::atomic_add(counts + bin, 1u); });
    ptx::sync_threads();

    for (int bin = static_cast<int>(threadIdx.x); bin < a.bins; bin += element_tile::threads)
        if (counts[bin] > 0) ptx::atomic_add(a.counts + bin, static_cast<unsigned long long>(counts[bin]));
}

}  // namespace

plan plan_shared_memory(const histogram_facts& problem, const device_traits& device) {
    plan result = plan_of_elements(problem, device);
    result.shared_bytes = static_cast<std::size_t>(problem.bins) * sizeof(unsigned);
    return result;
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
