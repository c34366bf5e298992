#include "benchmarks/support/kernels.hpp"
#include <heddle/error.hpp>

namespace heddle::bench {
namespace {

__device__ std::int64_t nanoseconds() {
    std::int64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void spin_kernel(std::int64_t duration) {
    const std::int64_t begin = nanoseconds();
    while (nanoseconds() - begin < duration) {
    }
}

constexpr int read_block = 1024;

__global__ void __launch_bounds__(read_block) read_kernel(const uint4* data, std::int64_t packets) {
    const std::int64_t step = std::int64_t{gridDim.x} * read_block;
    unsigned bits = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * read_block + threadIdx.x; i < packets; i += step) {
        const uint4 packet = data[i];
        bits |= packet.x | packet.y | packet.z | packet.w;
    }
    if (bits != 0) __trap();  // keeps the loads; the data are zeros
}

}  // namespace

void read(const std::byte* data, std::int64_t bytes, cuda::stream_ref stream) {
    constexpr std::int64_t packet = sizeof(uint4);
    constexpr int blocks = 264;
    read_kernel<<<blocks, read_block, 0, stream.get()>>>(reinterpret_cast<const uint4*>(data),
                                                         bytes / packet);
    check(cudaGetLastError());
}

void spin(std::chrono::nanoseconds duration, cuda::stream_ref stream) {
    spin_kernel<<<1, 1, 0, stream.get()>>>(duration.count());
    check(cudaGetLastError());
}

}  // namespace heddle::bench
