#include "benchmarks/ceilings/kernels.hpp"
#include "kernels/device/math.hpp"
#include <heddle/error.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace heddle::bench {
namespace {

constexpr int block = 256;

__device__ uint4 scrambled(std::int64_t index) {
    const auto bits = static_cast<unsigned>(index) * 0x9e3779b9u;
    return {bits, bits ^ 0x85ebca6bu, bits * 0xc2b2ae35u, ~bits};
}

template <access kind, int packets, bool streams, bool backwards>
__global__ void __launch_bounds__(block)
    access_kernel(const uint4* __restrict__ from, uint4* __restrict__ to, std::int64_t count) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    constexpr std::int64_t part = block * packets;
    unsigned bits = 0;
    for (std::int64_t first = blockIdx.x * part + threadIdx.x; first < count; first += gridDim.x * part) {
        const auto place = [&](std::int64_t index) { return backwards ? count - 1 - index : index; };
        uint4 packet[packets];
#pragma unroll
        for (int i = 0; i < packets; ++i) {
            const std::int64_t index = first + i * block;
            packet[i] = uint4{};
            if constexpr (kind == access::write) {
                packet[i] = scrambled(index);
            } else {
                if (index < count) packet[i] = streams ? __ldcs(from + place(index)) : from[place(index)];
            }
        }
#pragma unroll
        for (int i = 0; i < packets; ++i) {
            const std::int64_t index = first + i * block;
            if constexpr (kind == access::read) {
                bits ^= packet[i].x ^ packet[i].y ^ packet[i].z ^ packet[i].w;
            } else if (index < count) {
                if constexpr (streams)
                    __stcs(to + place(index), packet[i]);
                else
                    to[place(index)] = packet[i];
            }
        }
    }
    if (kind == access::read && bits == 0x5bd1e995u) to[0].x = bits;  // keeps the loads
}

using kernel = void (*)(const uint4*, uint4*, std::int64_t);

/// The kernels of all accesses, for 1, 2, 4 and 8 packets, with and without each flag.
template <std::size_t... i>
kernel kernel_at(std::size_t index, std::index_sequence<i...>) {
    static constexpr kernel all[] = {
        access_kernel<static_cast<access>(i / 16), 1 << i % 4, i / 4 % 2 == 1, i / 8 % 2 == 1>...};
    return all[index];
}

kernel kernel_of(access access, const access_variant& variant, bool backwards) {
    const auto bits = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(variant.packets)));
    const std::size_t index =
        static_cast<std::size_t>(access) * 16 + (backwards ? 8 : 0) + (variant.streams ? 4 : 0) + bits;
    return kernel_at(index, std::make_index_sequence<48>{});
}

/// That the device holds of a kernel at once.
std::int64_t resident_blocks(kernel kernel) {
    int of_one = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel, block, 0));
    return std::int64_t{of_one} * traits_of(current_device()).sm_count;
}

}  // namespace

std::span<const access_variant> access_variants(const device_traits& device) {
    const auto all = [](bool may_begin_early) {
        std::vector<access_variant> variants;
        for (const bool begins_early : {false, true})
            for (const bool resident : {false, true})
                for (const bool streams : {false, true})
                    for (const int packets : {1, 2, 4, 8})
                        if (may_begin_early || !begins_early)
                            variants.push_back({packets, resident, streams, begins_early});
        return variants;
    };
    static const std::vector<access_variant> early = all(true), plain = all(false);
    return device.has_compute_capability(9, 0) ? early : plain;
}

void access_memory(access access, const access_variant& variant, const std::byte* from, std::byte* to,
                   std::int64_t bytes, bool backwards, cuda::stream_ref stream) {
    const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(uint4));
    const std::int64_t part = block * variant.packets;
    const std::int64_t parts = kernels::divide_up(count, part);
    const kernel kernel = kernel_of(access, variant, backwards);

    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim.x =
        static_cast<unsigned>(variant.resident ? std::min(parts, resident_blocks(kernel)) : parts);
    config.blockDim.x = block;
    config.stream = stream.get();
    config.attrs = &early;
    config.numAttrs = variant.begins_early ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, reinterpret_cast<const uint4*>(from),
                             reinterpret_cast<uint4*>(to), count));
}

}  // namespace heddle::bench
