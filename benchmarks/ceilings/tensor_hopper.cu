// For compute capability 9.0a alone: its tensor cores reach their rate by wgmma only.

#include "benchmarks/ceilings/kernels.hpp"
#include "benchmarks/ceilings/random_word.cuh"
#include <heddle/error.hpp>

#include <cuda_runtime.h>

#include <cstdint>

namespace heddle::bench {
namespace {

constexpr int warpgroup = 128, warpgroups = 2;
constexpr int m = 64, n = 256;
constexpr int row_bytes = 128;  // the span of the swizzle
constexpr int a_bytes = m * row_bytes, b_bytes = n * row_bytes;
/// Along k, of one instruction and of all in a row.
constexpr int step_bytes = 32;
constexpr int steps_a_row = row_bytes / step_bytes;
constexpr int rounds = 320;

/// A tile whose rows run along k, swizzled over 128 bytes, for wgmma.
__device__ std::uint64_t descriptor(const unsigned char* tile) {
    const auto start = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
    constexpr std::uint64_t eight_rows = 8 * row_bytes;
    constexpr std::uint64_t swizzled_128 = 1;
    return start >> 4 | eight_rows >> 4 << 32 | swizzled_128 << 62;
}

// The instruction names each of its registers.
// clang-format off
#define SUMS \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_64(i) SUMS_16(i), SUMS_16(i + 16), SUMS_16(i + 32), SUMS_16(i + 48)
#define WGMMA(shape_and_types, orders) \
    asm volatile("{\n.reg .pred accumulate;\nsetp.eq.u32 accumulate, 0, 0;\n" \
                 "wgmma.mma_async.sync.aligned." shape_and_types " {" SUMS "}, %128, %129, accumulate, 1, 1" orders ";\n}" \
                 : SUMS_64(0), SUMS_64(64) : "l"(a), "l"(b))

/// sums += a b
template <tensor_type type>
__device__ inline void wgmma(float (&sums)[n / 2], std::uint64_t a, std::uint64_t b) {
    if constexpr (type == tensor_type::tf32) WGMMA("m64n256k8.f32.tf32.tf32", "");
    if constexpr (type == tensor_type::f16) WGMMA("m64n256k16.f32.f16.f16", ", 0, 0");
    if constexpr (type == tensor_type::bf16) WGMMA("m64n256k16.f32.bf16.bf16", ", 0, 0");
}

#undef WGMMA
#undef SUMS_64
#undef SUMS_16
#undef SUMS_4
#undef SUMS
// clang-format on

/// Each warpgroup has an A of its own, and they share B.
template <tensor_type type>
__global__ void __launch_bounds__(warpgroups* warpgroup, 1) wgmma_kernel(float* sink) {
    __shared__ alignas(1024) unsigned char operands[warpgroups * a_bytes + b_bytes];
    unsigned state = random_seed();
    for (unsigned i = threadIdx.x; i < sizeof(operands) / sizeof(unsigned); i += warpgroups * warpgroup)
        reinterpret_cast<unsigned*>(operands)[i] = random_word<type>(state);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    const std::uint64_t a = descriptor(operands + threadIdx.x / warpgroup * a_bytes);
    const std::uint64_t b = descriptor(operands + warpgroups * a_bytes);
    float sums[n / 2] = {};
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < steps_a_row; ++step)
            wgmma<type>(sums, a + step * (step_bytes >> 4), b + step * (step_bytes >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (float& sum : sums) asm volatile("" : "+f"(sum));  // what reads them stays behind the wait
    float total = 0;
#pragma unroll
    for (const float sum : sums) total += sum;
    if (total == 0.4321f) *sink = total;  // keeps the sums
}

template <tensor_type type>
void launch(float* sink, cuda::stream_ref stream) {
    const int blocks = traits_of(current_device()).sm_count;
    wgmma_kernel<type><<<blocks, warpgroups * warpgroup, 0, stream.get()>>>(sink);
    check(cudaGetLastError());
}

}  // namespace

double wgmma_operations(tensor_type type, const device_traits& device) {
    const int k = step_bytes / (type == tensor_type::tf32 ? 4 : 2);
    return 2.0 * m * n * k * steps_a_row * rounds * warpgroups * device.sm_count;
}

void wgmma_products(tensor_type type, float* sink, cuda::stream_ref stream) {
    constexpr void (*by_type[])(float*, cuda::stream_ref) = {
        launch<tensor_type::tf32>, launch<tensor_type::f16>, launch<tensor_type::bf16>};
    by_type[static_cast<int>(type)](sink, stream);
}

}  // namespace heddle::bench
