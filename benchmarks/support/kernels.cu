#include "benchmarks/support/kernels.hpp"
#include "benchmarks/support/rows.hpp"
#include "kernels/device/math.hpp"
#include <heddle/elementwise.cuh>
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

constexpr int threads = 256;

unsigned blocks_for(std::int64_t size) {
    return static_cast<unsigned>(kernels::divide_up(size, threads));
}

__device__ std::int64_t thread_index() {
    return std::int64_t{blockIdx.x} * threads + threadIdx.x;
}

__global__ void add(const float* x, const float* y, float* z, std::int64_t size) {
    const std::int64_t i = thread_index();
    if (i < size) z[i] = x[i] + y[i];
}

/// One block.
__global__ void sum(const float* x, std::int64_t size, float* result) {
    __shared__ float partials[threads];
    float total = 0;
    for (std::int64_t i = threadIdx.x; i < size; i += threads) total += x[i];
    partials[threadIdx.x] = total;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partials[threadIdx.x] += partials[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *result = partials[0];
}

/// A thread a row.
__global__ void softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    const std::int64_t row = thread_index();
    if (row >= rows) return;
    float largest = x[row * cols];
    for (std::int64_t col = 1; col < cols; ++col) largest = fmaxf(largest, x[row * cols + col]);
    float total = 0;
    for (std::int64_t col = 0; col < cols; ++col) total += expf(x[row * cols + col] - largest);
    for (std::int64_t col = 0; col < cols; ++col)
        y[row * cols + col] = expf(x[row * cols + col] - largest) / total;
}

__global__ void transpose(const float* source, float* destination, std::int64_t rows, std::int64_t cols) {
    const std::int64_t i = thread_index();
    if (i < rows * cols) destination[i % cols * rows + i / cols] = source[i];
}

struct gelu {
    template <class T>
    __device__ T operator()(T x) const {
        const float value = static_cast<float>(x);
        return static_cast<T>(value * 0.5f * erfcf(value * -0.70710678f));
    }
};

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

void launch_add(const float* x, const float* y, float* z, std::int64_t size) {
    add<<<blocks_for(size), threads, 0, stream().get()>>>(x, y, z, size);
    check(cudaGetLastError());
}

void launch_sum(const float* x, std::int64_t size, float* result) {
    sum<<<1, threads, 0, stream().get()>>>(x, size, result);
    check(cudaGetLastError());
}

void launch_softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    softmax<<<blocks_for(rows), threads, 0, stream().get()>>>(x, y, rows, cols);
    check(cudaGetLastError());
}

void launch_transpose(const float* source, float* destination, std::int64_t rows, std::int64_t cols) {
    transpose<<<blocks_for(rows * cols), threads, 0, stream().get()>>>(source, destination, rows, cols);
    check(cudaGetLastError());
}

template <class T>
void own_gelu(vector_view<const T> x, vector_view<T> y) {
    transform<T>(gelu{}, x, y, stream());
}

template void own_gelu(vector_view<const float>, vector_view<float>);
template void own_gelu(vector_view<const half>, vector_view<half>);

}  // namespace heddle::bench
