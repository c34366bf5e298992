// naive: every element is an atomic addition to global memory.
//
// It takes any stride and any number of bins. L2 limits it, because additions to one address take turns: with few
// bins, or data of one value, all threads wait for each other.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"

namespace heddle::kernels::histogram {
namespace {

template <class T>
__global__ void __launch_bounds__(element_tile::threads) naive(const __grid_constant__ arguments<T> a) {
    for_each_bin(a, [&](int bin) { ptx::atomic_add(a.counts + bin, 1ull); });
}

}  // namespace

plan plan_naive(const histogram_facts& problem, const device_traits& device) {
    return plan_of_elements(problem, device);
}

template <class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, naive<T>, arguments);
}

template void launch_naive(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_naive(const plan&, const arguments<float>&, cudaStream_t);

}  // namespace heddle::kernels::histogram
