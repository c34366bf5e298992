#pragma once

#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/error.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

/// What the kernels of reference.hpp share: blocks of threads whose parts of a result are added together.
namespace heddle::bench::cliffs {

inline constexpr int threads = 256;

/// Stores the total of all threads of the block: blocks along x are results, and along y the parts of each.
template <class Part>
__device__ void store_total(const Part& own, Part* totals) {
    __shared__ alignas(Part) std::byte memory[threads * sizeof(Part)];
    Part* const parts = reinterpret_cast<Part*>(memory);
    parts[threadIdx.x] = own;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            Part sum = parts[threadIdx.x];
            sum.add(parts[threadIdx.x + half]);
            parts[threadIdx.x] = sum;
        }
    }
    if (threadIdx.x == 0) totals[blockIdx.x * gridDim.y + blockIdx.y] = parts[0];
}

template <class T>
__device__ double value_of(T x) {
    if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
        return static_cast<double>(static_cast<float>(x));
    else
        return static_cast<double>(x);
}

template <class T>
device_buffer<T> on_device(const std::vector<T>& values) {
    device_buffer<T> buffer(static_cast<std::int64_t>(values.size()), stream());
    copy(values, buffer, stream());
    return buffer;
}

/// Runs a kernel of parts, and adds those of each result together.
template <class Part, class Launch>
std::vector<Part> totals(std::size_t results, unsigned parts, Launch launch) {
    device_buffer<Part> on_gpu(static_cast<std::int64_t>(results * parts), stream());
    launch(dim3(static_cast<unsigned>(results), parts), on_gpu.data());
    check(cudaGetLastError());
    std::vector<Part> all(results * parts), sums(results);
    copy_and_wait(on_gpu, all, stream());
    for (std::size_t i = 0; i < all.size(); ++i) sums[i / parts].add(all[i]);
    return sums;
}

}  // namespace heddle::bench::cliffs
