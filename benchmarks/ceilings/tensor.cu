#include "benchmarks/ceilings/kernels.hpp"
#include "benchmarks/ceilings/random_word.cuh"
#include "kernels/device/warp.hpp"
#include <heddle/error.hpp>

#include <cuda_runtime.h>

namespace heddle::bench {
namespace {

constexpr int block = 256, blocks_an_sm = 2, warps = block / kernels::warp_size;
constexpr int m = 16, n = 8;
/// Each warp has tiles x tiles sums, none of which waits for another.
constexpr int tiles = 4;
constexpr int rounds = 512;

/// sums (16 x 8) += a b, 16 along k, or 8 of tf32.
template <tensor_type type>
__device__ void mma(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#define MMA(shape, types)                                                               \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." types                        \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
    if constexpr (type == tensor_type::tf32) MMA("m16n8k8", "tf32.tf32");
    if constexpr (type == tensor_type::f16) MMA("m16n8k16", "f16.f16");
    if constexpr (type == tensor_type::bf16) MMA("m16n8k16", "bf16.bf16");
#undef MMA
}

template <tensor_type type>
__global__ void __launch_bounds__(block, blocks_an_sm) mma_kernel(float* sink) {
    unsigned a[tiles][4], b[tiles][2];
    unsigned state = random_seed();
    for (auto& fragment : a)
        for (unsigned& word : fragment) word = random_word<type>(state);
    for (auto& fragment : b)
        for (unsigned& word : fragment) word = random_word<type>(state);
    float sums[tiles][tiles][4] = {};
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int row = 0; row < tiles; ++row)
#pragma unroll
            for (int col = 0; col < tiles; ++col) mma<type>(sums[row][col], a[row], b[col]);
    float total = 0;
    for (const auto& row : sums)
        for (const auto& tile : row)
            for (const float sum : tile) total += sum;
    if (total == 0.4321f) *sink = total;  // keeps the sums
}

template <tensor_type type>
void launch(float* sink, cuda::stream_ref stream) {
    const int blocks = blocks_an_sm * traits_of(current_device()).sm_count;
    mma_kernel<type><<<blocks, block, 0, stream.get()>>>(sink);
    check(cudaGetLastError());
}

}  // namespace

double mma_operations(tensor_type type, const device_traits& device) {
    const int k = type == tensor_type::tf32 ? 8 : 16;
    return 2.0 * m * n * k * tiles * tiles * rounds * warps * blocks_an_sm * device.sm_count;
}

void mma_products(tensor_type type, float* sink, cuda::stream_ref stream) {
    constexpr void (*by_type[])(float*, cuda::stream_ref) = {
        launch<tensor_type::tf32>, launch<tensor_type::f16>, launch<tensor_type::bf16>};
    by_type[static_cast<int>(type)](sink, stream);
}

}  // namespace heddle::bench
