#include "benchmarks/ceilings/kernels.hpp"
#include "kernels/device/warp.hpp"
#include <heddle/error.hpp>

#include <cuda_runtime.h>

namespace heddle::bench {
namespace {

constexpr int fma_block = 256;
/// As many independent chains as hide the latency of an FMA.
constexpr int chains = 8;
/// The FMAs of a thread. Those of float and of double take about as long where double has half the rate.
template <class T>
constexpr int fma_per_thread = 80 * 1024 / sizeof(T) / 2;

template <class T>
__global__ void __launch_bounds__(fma_block) fma_kernel(T factor, T summand, T* sink) {
    T value[chains];
    for (int chain = 0; chain < chains; ++chain)
        value[chain] = static_cast<T>(threadIdx.x * chains + chain + 1) / (fma_block * chains);
#pragma unroll 16
    for (int step = 0; step < fma_per_thread<T> / chains; ++step)
        for (int chain = 0; chain < chains; ++chain) value[chain] = fma(value[chain], factor, summand);
    T sum = 0;
    for (int chain = 0; chain < chains; ++chain) sum += value[chain];
    if (sum == factor) *sink = sum;  // keeps the chains; it does not happen
}

constexpr int shared_block = 512;
constexpr int loads_a_round = 16;
constexpr int rounds = 40;

__global__ void __launch_bounds__(shared_block) shared_kernel(unsigned* sink) {
    __shared__ uint4 data[shared_block + (loads_a_round - 1) * kernels::warp_size];
    for (int i = threadIdx.x; i < shared_block + (loads_a_round - 1) * kernels::warp_size;
         i += shared_block) {
        const unsigned bits = static_cast<unsigned>(i + 1) * 0x9e3779b9u;
        data[i] = {bits, bits * 0x85ebca6bu, bits * 0xc2b2ae35u, bits ^ bits >> 15};
    }
    __syncthreads();
    const auto own = static_cast<unsigned>(__cvta_generic_to_shared(data + threadIdx.x));
    unsigned bits = 0;
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int load = 0; load < loads_a_round; ++load) {
            uint4 packet;
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(packet.x), "=r"(packet.y), "=r"(packet.z), "=r"(packet.w)
                         : "r"(own + static_cast<unsigned>(load * kernels::warp_size * sizeof(uint4))));
            bits ^= packet.x ^ packet.y ^ packet.z ^ packet.w;
        }
    if (bits == 0x5bd1e995u) *sink = bits;  // keeps the loads
}

__global__ void empty_kernel() {}

/// Blocks of so many threads that fill the device.
int filling_blocks(const device_traits& device, int threads) {
    return device.sm_count * (device.max_threads_per_sm / threads);
}

}  // namespace

double shared_memory_bytes(const device_traits& device) {
    return static_cast<double>(sizeof(uint4)) * loads_a_round * rounds * shared_block *
           filling_blocks(device, shared_block);
}

void read_shared_memory(unsigned* sink, cuda::stream_ref stream) {
    const int blocks = filling_blocks(traits_of(current_device()), shared_block);
    shared_kernel<<<blocks, shared_block, 0, stream.get()>>>(sink);
    check(cudaGetLastError());
}

template <class T>
double fma_operations(const device_traits& device) {
    return 2.0 * fma_per_thread<T> * fma_block * filling_blocks(device, fma_block);
}

template <class T>
void fma_chains(T* sink, cuda::stream_ref stream) {
    const int blocks = filling_blocks(traits_of(current_device()), fma_block);
    fma_kernel<T><<<blocks, fma_block, 0, stream.get()>>>(T(-0.9999), T(0.4321), sink);
    check(cudaGetLastError());
}

template double fma_operations<float>(const device_traits&);
template double fma_operations<double>(const device_traits&);
template void fma_chains(float*, cuda::stream_ref);
template void fma_chains(double*, cuda::stream_ref);

void launch_nothing(cuda::stream_ref stream) {
    empty_kernel<<<1, 1, 0, stream.get()>>>();
    check(cudaGetLastError());
}

}  // namespace heddle::bench
