// naive: every element is an atomic addition to global memory.
//
// It takes any stride and any number of bins. L2 limits it, because additions to one address take turns: with few
// bins, or data of one value, all threads wait for each other.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"
#include "kernels/histogram/plan/blocks.hpp"

namespace heddle::kernels::histogram {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
};

template <class T>
__global__ void __launch_bounds__(tile::threads) naive(const __grid_constant__ arguments<T> a) {
    for_each_bin<tile::threads>(a, [&](int bin) { ptx::atomic_add(a.counts + bin, 1ull); });
}

}  // namespace

plan plan_naive(const histogram_facts& problem, const device_traits& device) {
    return {.blocks = {blocks_for(problem.size, problem.size, tile::threads,
                                  std::int64_t{device.sm_count} * tile::blocks_per_sm)},
            .threads = {tile::threads}};
}

template <class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<T>, arguments);
}

template void launch_naive(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<float>&, cudaStream_t);

}  // namespace heddle::kernels::histogram
